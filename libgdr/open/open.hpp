// Opening devices by name. This component knows all kinds of devices; the others do not know it.
#pragma once

#include <memory>

#include "libgdr/device/core.hpp"

namespace gdr {

/// Opens the boards that a name asks for. Errors are those of Device::open.
std::shared_ptr<DeviceCore> open_core(const DeviceName& name);

}  // namespace gdr
