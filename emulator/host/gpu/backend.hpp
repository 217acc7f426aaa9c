// The interfaces to GPUs (OpenCL and others) as a table of functions.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "emulator/host/gpu/device.hpp"

namespace gdr::gpu {

/// An interface to devices: a library of the system.
struct Backend {
  /// Its devices, in the order of its drivers; empty without the library.
  const std::vector<DeviceInfo>& (*devices)();
  /// Why there is none, and what to install.
  std::string (*why_no_device)();
  /// Opens a device by its number in devices(). Throws as Device's functions.
  std::unique_ptr<Device> (*open)(std::size_t number);
};

extern const Backend opencl_backend;

}  // namespace gdr::gpu
