// CLBlast, a BLAS library in OpenCL, opened at run time.
#pragma once

#include <functional>

#include "emulator/host/gpu/blas.hpp"
#include "emulator/host/gpu/device.hpp"

namespace gdr::gpu {

struct QueueObject;

/// Opens the library (GDR_CLBLAST_LIBRARY, or libclblast.so.1) for a device. `queue`: the calling
/// thread's queue of the device, to which the library gives its work; `finish` waits for that
/// queue and throws Error (Device) if the device failed. Throws Error (Unsupported) if the library
/// that the variable names cannot be opened.
BlasLibrary open_clblast(const DeviceInfo& info, std::function<QueueObject*()> queue,
                         std::function<void()> finish);

}  // namespace gdr::gpu
