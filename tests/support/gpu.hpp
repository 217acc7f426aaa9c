// GPUs for tests.
#pragma once

#include <cstdlib>

#include "emulator/host/gpu/device.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// Whether there is a GPU or another device, with a message if there is none.
inline bool has_gpu() {
  if (!gpu::devices().empty()) return true;
  WARN("no GPU: " << gpu::why_no_device());
  return false;
}

/// The same; then the engines of the process use it for small calculations, too.
inline bool use_gpu_for_all() {
  setenv("GDR_GPU_PAIRS", "0", 1);
  return has_gpu();
}

/// GDR_GPU_BLAS for the engines that are opened during its lifetime.
struct GpuBlas {
  explicit GpuBlas(const char* value) { setenv("GDR_GPU_BLAS", value, 1); }
  GpuBlas(const GpuBlas&) = delete;
  ~GpuBlas() { unsetenv("GDR_GPU_BLAS"); }
};

/// Whether the first device has a BLAS library, with a message if it has none.
inline bool has_gpu_library() {
  if (!has_gpu()) return false;
  const gpu::BlasLibrary library = gpu::open_device("")->blas();
  if (library.blas == nullptr) WARN("no BLAS library for the GPU: " << library.reason);
  return library.blas != nullptr;
}

}  // namespace gdr::test
