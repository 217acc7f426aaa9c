// Whether a BLAS library computes fast products.
#pragma once

#include <memory>

#include "emulator/host/gpu/device.hpp"

namespace gdr {

/// A rule instead of a measurement, so that bits do not depend on timing: the library of the GPU's
/// interface if it can be opened, else our own kernels (null). GDR_GPU_BLAS=own or library
/// overrules it. Throws Error (Unsupported) if a library that the environment demands is not there,
/// and (Usage) for another value.
std::shared_ptr<gpu::Blas> multiplying_library(gpu::Device& device);

}  // namespace gdr
