// Whether a GPU's doubles are exact enough for the exact engine.
#pragma once

#include <string>

#include "emulator/host/gpu/device.hpp"

namespace gdr {

/// Compares a million sums, products, fused products and roundings of random numbers on the device
/// with this host's. Returns what is wrong, or an empty string. Tested once per process and device.
std::string exactness_failure(gpu::Device& device);

}  // namespace gdr
