// What opens the kinds of devices of one process. libgdr/open chooses among them by name.
#pragma once

#include <memory>

#include "libgdr/device/core.hpp"

namespace gdr {

/// Emulated boards in this process.
std::shared_ptr<DeviceCore> open_emulator(const DeviceName& name);
/// Boards behind the driver: of a board server, or device nodes. Throws Error (Device, Usage).
std::shared_ptr<DeviceCore> open_board(const DeviceName& name);
/// The best that works: device nodes, the default board server, the emulator.
std::shared_ptr<DeviceCore> open_best(const DeviceName& name);

}  // namespace gdr
