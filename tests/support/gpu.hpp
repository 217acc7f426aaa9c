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

}  // namespace gdr::test
