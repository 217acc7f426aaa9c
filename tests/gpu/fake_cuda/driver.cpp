// A CUDA driver for tests: the entry points of libcuda that the CUDA back end calls, executed by an
// OpenCL device, so that results are real. It reports an error where the real driver would: without
// cuInit, without a current context in the calling thread, outside of buffers, for code of another
// architecture.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "gpu/fake_cuda/programs.hpp"
#include "gpu/fake_cuda/settings.hpp"

namespace gdr::test::fake_cuda {
namespace {

using Result = int;
using Address = std::uint64_t;

constexpr Result success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3,
                 no_device = 100, invalid_device = 101, invalid_image = 200, invalid_context = 201,
                 no_binary_for_device = 209, invalid_handle = 400, not_found = 500,
                 launch_failed = 719;

std::atomic<bool> initialized{false};

/// A context: a device that was retained.
struct Context {
  int device = 0;
  std::atomic<int> owners{0};
};
std::array<Context, 16> contexts;
/// The thread's contexts, the current one last. Without a destructor: kernels that a program keeps
/// are released after the destructors of thread-local variables.
struct Stack {
  std::array<Context*, 8> contexts;
  std::size_t count;
  bool empty() const { return count == 0; }
  Context* back() const { return contexts.at(count - 1); }
};
thread_local constinit Stack current{};

struct Memory {
  std::shared_ptr<gpu::Buffer> buffer;
  std::size_t bytes = 0;
  const Context* context = nullptr;
};
std::mutex mutex;
std::map<Address, Memory>& memories() {
  static auto* const all = new std::map<Address, Memory>;
  return *all;
}

/// The memory at an address of the current context, with the offset there, if so many bytes follow.
bool find(Address address, std::size_t bytes, Memory& memory, std::size_t& offset) {
  const std::scoped_lock lock(mutex);
  auto at = memories().upper_bound(address);
  if (at == memories().begin()) return false;
  --at;
  memory = at->second;
  offset = address - at->first;
  return memory.context == current.back() && offset <= memory.bytes &&
         bytes <= memory.bytes - offset;
}

/// What is wrong before any work of a context, or the injected result of a function.
Result refused(const char* function) {
  if (const Result result = injected(function); result != success) return result;
  if (!initialized) return not_initialized;
  return current.empty() || current.back()->owners == 0 ? invalid_context : success;
}

bool is_stream_of_thread(const void* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) == 2;
}

}  // namespace

extern "C" {

Result cuInit(unsigned flags) {
  if (const Result result = injected("cuInit"); result != success) return result;
  if (flags != 0) return invalid_value;
  if (opencl_device() == nullptr || device_count() == 0) return no_device;
  initialized = true;
  return success;
}
Result cuDriverGetVersion(int* version) {
  *version = driver_version();
  return success;
}
Result cuDeviceGetCount(int* count) {
  if (!initialized) return not_initialized;
  *count = device_count();
  return success;
}
Result cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= device_count()) return invalid_device;
  *device = ordinal;
  return success;
}
Result cuDeviceGetName(char* name, int size, int device) {
  const std::string text = "Fake CUDA card " + std::to_string(device);
  if (static_cast<int>(text.size()) >= size) return invalid_value;
  std::memcpy(name, text.c_str(), text.size() + 1);
  return success;
}
Result cuDeviceGetAttribute(int* value, int attribute, int device) {
  const gpu::DeviceInfo& info = opencl_device()->info();
  switch (attribute) {
    case 1:
      *value = static_cast<int>(info.largest_group);
      return success;
    case 8:
      *value = static_cast<int>(info.local_bytes);
      return success;
    case 16:
      *value = static_cast<int>(info.units);
      return success;
    case 33:
      *value = 1 + device;
      return success;
    case 34:
    case 50:
      *value = 0;
      return success;
    case 75:
      *value = capability() / 10;
      return success;
    case 76:
      *value = capability() % 10;
      return success;
    default:
      return invalid_value;
  }
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, int /*device*/) {
  *bytes = opencl_device()->info().memory_bytes;
  return success;
}
Result cuDevicePrimaryCtxRetain(void** context, int device) {
  if (const Result result = injected("cuDevicePrimaryCtxRetain"); result != success) return result;
  if (!initialized) return not_initialized;
  Context& retained = contexts.at(static_cast<std::size_t>(device));
  retained.device = device;
  ++retained.owners;
  *context = &retained;
  return success;
}
Result cuDevicePrimaryCtxRelease_v2(int device) {
  Context& context = contexts.at(static_cast<std::size_t>(device));
  if (context.owners == 0) return invalid_context;
  --context.owners;
  return success;
}
Result cuCtxPushCurrent_v2(void* context) {
  if (!initialized) return not_initialized;
  if (current.count == current.contexts.size()) return out_of_memory;
  current.contexts.at(current.count++) = static_cast<Context*>(context);
  return success;
}
Result cuCtxPopCurrent_v2(void** context) {
  if (current.empty()) return invalid_context;
  *context = current.back();
  --current.count;
  return success;
}

Result cuModuleLoadDataEx(void** module, const void* image, unsigned count, const int* options,
                          void** values) {
  for (unsigned n = 0; n < count; ++n)
    if (options[n] == 5) static_cast<char*>(values[n])[0] = '\0';
  if (const Result result = refused("cuModuleLoadDataEx"); result != success) return result;
  std::string target;
  const Compiled* const program = program_of(static_cast<const char*>(image), target);
  if (program == nullptr) return invalid_image;
  if (target.starts_with("sm_") && target != "sm_" + std::to_string(capability()))
    return no_binary_for_device;
  *module = new Compiled(*program);
  return success;
}
Result cuModuleUnload(void* module) {
  delete static_cast<Compiled*>(module);
  return success;
}
Result cuModuleGetFunction(void** function, void* module, const char* name) {
  if (const Result result = refused("cuModuleGetFunction"); result != success) return result;
  if (name != std::string("run")) return not_found;
  *function = module;
  return success;
}

Result cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (const Result result = refused("cuMemAlloc_v2"); result != success) return result;
  if (bytes == 0) return invalid_value;
  static Address next = Address{1} << 40;
  try {
    auto buffer = opencl_device()->allocate(bytes);
    const std::scoped_lock lock(mutex);
    *address = next;
    // A gap, so that an address behind a buffer is in none.
    next += (bytes + 4095) / 4096 * 4096 + 4096;
    memories()[*address] = {std::move(buffer), bytes, current.back()};
    return success;
  } catch (const Error&) {
    return out_of_memory;
  }
}
Result cuMemFree_v2(Address address) {
  if (const Result result = refused("cuMemFree_v2"); result != success) return result;
  const std::scoped_lock lock(mutex);
  return memories().erase(address) == 1 ? success : invalid_value;
}
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void* stream) {
  if (const Result result = refused("cuMemcpyHtoDAsync_v2"); result != success) return result;
  if (!is_stream_of_thread(stream)) return invalid_handle;
  Memory memory;
  std::size_t offset = 0;
  if (!find(to, bytes, memory, offset)) return invalid_value;
  opencl_device()->write(*memory.buffer, offset, from, bytes);
  return success;
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* stream) {
  if (const Result result = refused("cuMemcpyDtoHAsync_v2"); result != success) return result;
  if (!is_stream_of_thread(stream)) return invalid_handle;
  Memory memory;
  std::size_t offset = 0;
  if (!find(from, bytes, memory, offset)) return invalid_value;
  opencl_device()->read(*memory.buffer, offset, to, bytes);
  return success;
}

Result cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      void* stream, void** arguments, void** extra) {
  if (const Result result = refused("cuLaunchKernel"); result != success) return result;
  if (!is_stream_of_thread(stream)) return invalid_handle;
  if (grid_x == 0 || grid_y * grid_z * block_y * block_z != 1 || block_x == 0 ||
      block_x > opencl_device()->info().largest_group || shared_bytes != 0 || extra != nullptr)
    return invalid_value;
  const auto& compiled = *static_cast<const Compiled*>(function);
  std::vector<Memory> kept;
  std::vector<gpu::Argument> given;
  for (std::size_t n = 0; n < compiled.is_pointer.size(); ++n) {
    std::uint64_t value = 0;
    std::memcpy(&value, arguments[n], sizeof value);
    if (!compiled.is_pointer[n]) {
      given.push_back({nullptr, value});
      continue;
    }
    std::size_t offset = 0;
    // A real card reads where the address says; OpenCL passes whole buffers only.
    if (!find(value, 1, kept.emplace_back(), offset) || offset != 0) return invalid_value;
    given.push_back({kept.back().buffer.get()});
  }
  try {
    opencl_device()->run(*compiled.kernel, given, std::size_t{grid_x} * block_x, block_x);
    return success;
  } catch (const Error& error) {
    std::fprintf(stderr, "fake CUDA driver: %s\n", error.what());
    return launch_failed;
  }
}
Result cuStreamSynchronize(void* stream) {
  if (const Result result = refused("cuStreamSynchronize"); result != success) return result;
  return is_stream_of_thread(stream) ? success : invalid_handle;
}
Result cuGetErrorName(Result result, const char** name) {
  struct Named {
    Result result;
    const char* name;
  };
  constexpr Named named[] = {{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                             {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                             {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                             {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
                             {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  for (const Named& n : named)
    if (n.result == result) {
      *name = n.name;
      return success;
    }
  *name = nullptr;
  return invalid_value;
}

}  // extern "C"

}  // namespace gdr::test::fake_cuda
