// Functions that open the boards of a device by its name.
#pragma once

#include <memory>

#include "libgdr/device/core.hpp"
#include "libgdr/driver/network.hpp"

namespace gdr {

/// Emulated boards in this process.
std::shared_ptr<DeviceCore> open_emulator(const DeviceName& name);
/// Boards of a board server or device nodes, through the driver. Throws Error (Device, Usage).
std::shared_ptr<DeviceCore> open_board(const DeviceName& name);
/// The request for a session with the server of a device name. Throws Error (Usage) for devices
/// that are not of a server on another host.
driver::NetworkRequest network_request(const DeviceName& name);
/// The first available of device nodes, the default board server and the emulator.
std::shared_ptr<DeviceCore> open_best(const DeviceName& name);
/// One queue of any kind of device (libgdr/open). Errors are those of Device::open.
std::shared_ptr<DeviceCore> open_core(const DeviceName& name);

}  // namespace gdr
