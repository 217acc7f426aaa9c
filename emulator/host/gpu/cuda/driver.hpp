// The CUDA driver's library, opened at run time.
//
// Nothing of CUDA is needed to build. The few names and numbers of the interface that appear in
// this folder are those of the CUDA driver API, version 11.2 and later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gdr::gpu::cuda {

/// A result of the driver; 0 is success.
using Result = int;
using DeviceNumber = int;
/// An address in a device's memory.
using Address = std::uint64_t;

// Objects of the driver are pointers to types that it keeps to itself.
struct ContextObject;
struct ModuleObject;
struct FunctionObject;
struct StreamObject;

constexpr Result success = 0;
// Results after which a device may still compile another text.
constexpr Result invalid_image = 200, no_binary_for_device = 209, invalid_ptx = 218,
                 unsupported_ptx = 222;

/// What cuDeviceGetAttribute tells.
enum class Attribute : int {
  ThreadsOfBlock = 1,
  SharedMemoryOfBlock = 8,
  Multiprocessors = 16,
  PciBus = 33,
  PciDevice = 34,
  PciDomain = 50,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
};

/// The functions of the library that are used.
struct Functions {
  Result (*init)(unsigned flags);
  Result (*driver_version)(int* version);
  Result (*device_count)(int* count);
  Result (*device)(DeviceNumber* device, int ordinal);
  Result (*device_name)(char* name, int size, DeviceNumber device);
  Result (*device_attribute)(int* value, int attribute, DeviceNumber device);
  Result (*device_memory)(std::size_t* bytes, DeviceNumber device);
  Result (*retain_context)(ContextObject** context, DeviceNumber device);
  Result (*release_context)(DeviceNumber device);
  Result (*push_context)(ContextObject* context);
  Result (*pop_context)(ContextObject** context);
  Result (*load_module)(ModuleObject** module, const void* image, unsigned count, int* options,
                        void** values);
  Result (*unload_module)(ModuleObject* module);
  Result (*function)(FunctionObject** function, ModuleObject* module, const char* name);
  Result (*allocate)(Address* address, std::size_t bytes);
  Result (*free)(Address address);
  Result (*write)(Address to, const void* from, std::size_t bytes, StreamObject* stream);
  Result (*read)(void* to, Address from, std::size_t bytes, StreamObject* stream);
  Result (*launch)(FunctionObject* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   StreamObject* stream, void** arguments, void** extra);
  Result (*synchronize)(StreamObject* stream);
  Result (*error_name)(Result result, const char** name);
};

/// The library, or why there is none.
struct Driver {
  Functions call{};
  bool usable = false;
  std::string reason;  ///< why there is no device, and what to install
  int version = 0;     ///< latest CUDA version that the driver knows: 12040 is 12.4
};

/// Opens the library (GDR_CUDA_LIBRARY, or libcuda.so.1) once in the process.
const Driver& driver();

/// What a result means and what to do, with its number and the driver's name of it.
std::string explain(Result result);

/// A version as CUDA numbers it as text: 12040 is "12.4".
std::string version_text(int version);

}  // namespace gdr::gpu::cuda
