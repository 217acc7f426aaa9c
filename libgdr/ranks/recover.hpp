// Going on when ranks are lost: the device becomes one of those that are left, and what was under
// way is done again. As a job's bits do not depend on the number of ranks, nobody can tell.
#pragma once

#include <functional>
#include <vector>

#include "libgdr/ranks/ranks.hpp"

namespace gdr {

/// Device::recover.
std::vector<unsigned> recover(DeviceCore& device);

/// Device::despite_losses.
void despite_losses(DeviceCore& device, const std::function<void()>& work);

}  // namespace gdr
