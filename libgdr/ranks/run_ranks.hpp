// A run of a job that many ranks share.
#pragma once

#include <stop_token>

#include "libgdr/device/core.hpp"

namespace gdr {

/// Run the job that all ranks' parts make together, one behind the other in the order of the ranks.
/// Collective; every rank gets the results of its own targets, and all throw what one throws.
void run_on_ranks(DeviceCore& device, JobData& job, const std::stop_token& stop);

}  // namespace gdr
