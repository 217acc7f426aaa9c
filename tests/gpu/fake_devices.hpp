// CUDA devices that the fake libraries (fake_cuda/) offer.
#pragma once

#include <cstdlib>

#include "emulator/host/gpu/device.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// Devices are listed once in a process: before that, the fake libraries take the place of the real
/// ones. False, with a line, without an OpenCL device that executes what they are asked for.
inline bool has_fake_cuda() {
  setenv("GDR_CUDA_LIBRARY", GDR_FAKE_CUDA, 1);
  setenv("GDR_NVRTC_LIBRARY", GDR_FAKE_CUDA, 1);
  setenv("GDR_CUBLAS_LIBRARY", GDR_FAKE_CUDA, 1);
  setenv("GDR_FAKE_CUDA_DEVICES", "2", 1);
  for (const gpu::DeviceInfo& device : gpu::devices())
    if (device.backend == "CUDA") return true;
  WARN("the fake CUDA library needs an OpenCL device: " << gpu::why_no_device());
  return false;
}

/// Makes functions of the fake libraries fail as long as it exists.
struct Injected {
  explicit Injected(const char* failures) { setenv("GDR_FAKE_CUDA_FAIL", failures, 1); }
  Injected(const Injected&) = delete;
  ~Injected() { unsetenv("GDR_FAKE_CUDA_FAIL"); }
};

}  // namespace gdr::test
