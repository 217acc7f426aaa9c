// cuBLAS, NVIDIA's BLAS library, opened at run time.
#pragma once

#include "emulator/host/gpu/blas.hpp"
#include "emulator/host/gpu/cuda/driver.hpp"
#include "emulator/host/gpu/device.hpp"

namespace gdr::gpu::cuda {

/// Opens the library for a device: GDR_CUBLAS_LIBRARY, or the first that works on it among those
/// that are found, of the driver's version first. `stream`: the calling thread's stream, to which
/// the library gives its work. Throws Error (Unsupported) if the library that the variable names
/// cannot be opened.
BlasLibrary open_cublas(const DeviceInfo& info, ContextObject* context, StreamObject* (*stream)());

}  // namespace gdr::gpu::cuda
