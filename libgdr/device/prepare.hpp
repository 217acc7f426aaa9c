// The kernel that a device executes.
#pragma once

#include <functional>
#include <stop_token>

#include "gdr/kernel.hpp"
#include "libgdr/device/core.hpp"

namespace gdr {

/// Device::prepare, for what holds a queue of the device only.
Kernel prepare_for(const DeviceCore& core, const Kernel& kernel, const std::stop_token& stop = {},
                   const std::function<void(double)>& progress = {});

}  // namespace gdr
