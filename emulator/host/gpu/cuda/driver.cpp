#include "emulator/host/gpu/cuda/driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "emulator/host/gpu/shared_library.hpp"

namespace gdr::gpu::cuda {
namespace {

Driver open_driver() {
  Driver driver;
  const char* const given = std::getenv("GDR_CUDA_LIBRARY");
  const std::string name = given != nullptr ? given : "libcuda.so.1";
  SharedLibrary opened(name);
  if (!opened.is_open()) {
    driver.reason =
        "the library " + name + " cannot be opened: it is a part of NVIDIA's driver for the card";
    return driver;
  }
  Functions& f = driver.call;
  opened.find(f.init, "cuInit");
  opened.find(f.driver_version, "cuDriverGetVersion");
  opened.find(f.device_count, "cuDeviceGetCount");
  opened.find(f.device, "cuDeviceGet");
  opened.find(f.device_name, "cuDeviceGetName");
  opened.find(f.device_attribute, "cuDeviceGetAttribute");
  opened.find(f.device_memory, "cuDeviceTotalMem_v2");
  opened.find(f.retain_context, "cuDevicePrimaryCtxRetain");
  opened.find(f.release_context, "cuDevicePrimaryCtxRelease_v2");
  opened.find(f.push_context, "cuCtxPushCurrent_v2");
  opened.find(f.pop_context, "cuCtxPopCurrent_v2");
  opened.find(f.load_module, "cuModuleLoadDataEx");
  opened.find(f.unload_module, "cuModuleUnload");
  opened.find(f.function, "cuModuleGetFunction");
  opened.find(f.allocate, "cuMemAlloc_v2");
  opened.find(f.free, "cuMemFree_v2");
  opened.find(f.write, "cuMemcpyHtoDAsync_v2");
  opened.find(f.read, "cuMemcpyDtoHAsync_v2");
  opened.find(f.launch, "cuLaunchKernel");
  opened.find(f.synchronize, "cuStreamSynchronize");
  opened.find(f.error_name, "cuGetErrorName");
  if (!opened.is_complete()) {
    driver.reason = "the library " + name + " has no function " + opened.missing() +
                    ": update NVIDIA's driver to one for CUDA 11.2 or later";
    return driver;
  }
  f.driver_version(&driver.version);
  driver.usable = true;
  return driver;
}

}  // namespace

const Driver& driver() {
  // Never unloaded: drivers have threads.
  static const Driver* const opened = new Driver(open_driver());
  return *opened;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string explain(Result result) {
  struct Known {
    Result result;
    const char* text;
  };
  constexpr const char* defect =
      "a kernel failed there; the process can use the card no longer. Please report the kernel "
      "(gdr info --bug-report), and use another engine";
  constexpr const char* memory_error =
      "its memory or its links have an error that cannot be corrected: run the calculation again, "
      "and reset or replace the card if the error returns (nvidia-smi -q -d ECC)";
  constexpr const char* older_driver =
      "the driver is older than NVRTC, which compiled the kernel: update the driver, or install an "
      "NVRTC of the driver's version";
  constexpr Known known[] = {
      {2, "its memory is full: use fewer targets or sources at a time, or another card"},
      {3,
       "the process was forked after it used the card: open devices in the new process only "
       "(Python: multiprocessing's start method \"spawn\")"},
      {34, "the library is a stub for linking: remove its folder from LD_LIBRARY_PATH"},
      {46, "another process has the card for itself (nvidia-smi shows it, and the compute mode)"},
      {100,
       "the driver sees no card (nvidia-smi lists those that are there; CUDA_VISIBLE_DEVICES "
       "may hide them)"},
      {invalid_image, older_driver},
      {no_binary_for_device, older_driver},
      {214, memory_error},
      {invalid_ptx, older_driver},
      {220, memory_error},
      {unsupported_ptx, older_driver},
      {700, defect},
      {701, "a kernel needs more registers than a group of threads can have; use another engine"},
      {702,
       "a launch took too long and was ended, as cards with a display do: use a card without "
       "one, or fewer sources at a time"},
      {715, defect},
      {716, defect},
      {717, defect},
      {718, defect},
      {719, defect},
      {802, "the card is not ready: start the service nvidia-fabricmanager"},
      {803,
       "the driver's library and its kernel module have different versions: restart the host, "
       "or load the module again"},
      {999,
       "the driver gives no reason; the card may have been removed or reset (the kernel's log "
       "has lines with \"Xid\")"},
  };
  const char* name = nullptr;
  if (driver().usable) driver().call.error_name(result, &name);
  std::string number = "CUDA error " + std::to_string(result);
  if (name != nullptr) number += std::string(", ") + name;
  const auto* const found = std::ranges::find(known, result, &Known::result);
  return found == std::end(known) ? number : std::string(found->text) + " (" + number + ")";
}

}  // namespace gdr::gpu::cuda
