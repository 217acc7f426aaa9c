// The interfaces to devices (OpenCL, CUDA) as a table of functions.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/host/gpu/device.hpp"

namespace gdr::gpu {

/// An interface to devices: a library of the system.
struct Backend {
  const char* name;       ///< name in messages: "OpenCL"
  std::string_view word;  ///< word in names of devices: "opencl"
  /// Its devices, GPUs first, in the order of its drivers; empty without the library.
  const std::vector<DeviceInfo>& (*devices)();
  /// Why there is none, and what to install.
  std::string (*why_no_device)();
  /// Opens a device by its number in devices(). Throws as Device's functions.
  std::unique_ptr<Device> (*open)(std::size_t number);
};

extern const Backend opencl_backend, cuda_backend;

/// Writes a program's text to the folder that GDR_GPU_TEXT names, to be read or compiled elsewhere:
/// 0.cl, 1.cl, and so on in a process. Throws Error (Usage) if it cannot be written.
void write_text(const std::string& text);

}  // namespace gdr::gpu
