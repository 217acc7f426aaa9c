// GPUs and other devices that compile and execute kernels, whatever interface offers them.
//
// The libraries of the interfaces are opened at run time; nothing of them is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/host/gpu/blas.hpp"

namespace gdr::gpu {

/// A device as its driver describes it.
struct DeviceInfo {
  std::string backend;                 ///< the interface that offers it: "OpenCL", "CUDA"
  std::string name, platform, driver;  ///< driver: its version
  bool is_gpu = false;                 ///< else a processor or another accelerator
  bool has_doubles = false;
  std::uint32_t units = 0;  ///< compute units
  std::uint64_t memory_bytes = 0, largest_buffer_bytes = 0;
  std::uint64_t local_bytes = 0;    ///< local memory of a group
  std::uint64_t largest_group = 0;  ///< threads of a group, at most
  std::string
      pci_address;  ///< address in the form of pci_address(); empty if the driver does not tell it
};

/// A place on the PCI bus as "0000:17:00".
std::string pci_address(std::uint32_t domain, std::uint32_t bus, std::uint32_t device);

/// Name, platform, driver, compute units and memory, in one line.
std::string description(const DeviceInfo& device);
/// Interface and name, for messages: "the OpenCL device pocl".
std::string label(const DeviceInfo& device);

/// All devices of all interfaces, GPUs first, in the order of their drivers; empty if there is
/// none.
const std::vector<DeviceInfo>& devices();
/// Why there is none: which library could not be opened, or that no driver is installed.
std::string why_no_device();

/// Memory of a device. It is used with the device that allocated it only.
class Buffer {
 public:
  virtual ~Buffer() = default;
  /// What libraries of the interface take: OpenCL's memory object, or CUDA's address.
  virtual std::uintptr_t handle() const noexcept = 0;
};

/// Text that was compiled for a device.
class Kernel {
 public:
  virtual ~Kernel() = default;
};

/// An argument of a launch.
struct Argument {
  const Buffer* buffer = nullptr;
  std::uint64_t number = 0;  ///< argument of 64 bits, without a buffer
};

/// A device in use. Its functions may be called by several threads. Every thread has a queue, which
/// executes its calls one after the other; the queues of several threads run at the same time. The
/// functions throw gdr::Error (Device) with the driver's reason, and the remedy if there is one.
/// The failure of a queued call may be thrown by a later call of the thread.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const noexcept = 0;
  /// Compiles a program with one kernel, called `run`, in the dialect of README.md. Throws Error
  /// (Program) with the compiler's messages.
  virtual std::shared_ptr<const Kernel> compile(const std::string& text) = 0;
  /// Throws Error (Device) if the device has no memory left.
  virtual std::shared_ptr<Buffer> allocate(std::size_t bytes) = 0;
  /// Queues a transfer. `from` may be changed afterwards.
  virtual void send(Buffer& to, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Queues `threads` threads in groups of `group`, of which `threads` is a multiple. The buffers
  /// must live until a later `read` or `finish` returns.
  virtual void start(const Kernel& kernel, const std::vector<Argument>& arguments,
                     std::size_t threads, std::size_t group) = 0;
  /// Waits for the calls of this thread before, then transfers.
  virtual void read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// Waits for the calls of this thread before: others may then use what they have written.
  virtual void finish() = 0;
  /// The interface's library of matrix products, opened on the first call. Throws Error
  /// (Unsupported) if the environment names a library that cannot be opened.
  virtual BlasLibrary blas() = 0;

  /// Sends and waits.
  void write(Buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
    send(to, offset, from, bytes);
    finish();
  }
  /// Starts and waits.
  void run(const Kernel& kernel, const std::vector<Argument>& arguments, std::size_t threads,
           std::size_t group) {
    start(kernel, arguments, threads, group);
    finish();
  }
};

/// Opens a device: by number in devices(), or by a part of its name; empty: the first GPU, else the
/// first device. Behind "opencl:" or "cuda:", number and name are those in the list of that
/// interface. Devices are opened once per process. Throws Error (Unsupported) without such a
/// device, and names those that are there.
std::shared_ptr<Device> open_device(std::string_view which);

}  // namespace gdr::gpu
