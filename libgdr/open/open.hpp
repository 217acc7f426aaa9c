// Opening devices by name. This component depends on all kinds of devices.
#pragma once

#include <memory>

#include "libgdr/device/core.hpp"

namespace gdr {

/// Opens the boards selected by a name. Errors are those of Device::open.
std::shared_ptr<DeviceCore> open_core(const DeviceName& name);

}  // namespace gdr
