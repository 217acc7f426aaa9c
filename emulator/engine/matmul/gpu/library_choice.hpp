// Whether a BLAS library computes fast products.
#pragma once

#include "emulator/engine/gpu/gpu.hpp"

namespace gdr {

/// A rule instead of a measurement, so that bits do not depend on timing: the library of the GPU's
/// interface if it can be opened, else our own kernels. GDR_GPU_BLAS=own or library overrules it.
/// Throws Error (Unsupported) if a library that the environment demands is not there, and (Usage)
/// for another value.
bool multiplies_by_library(const Gpu& gpu);

}  // namespace gdr
