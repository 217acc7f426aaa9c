// The ranks of an open device, for users outside of the core: the command, the integrator,
// distributed matrices.
#pragma once

#include <memory>

#include "gdr/device.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/collective.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {

struct DeviceRanks {
  static std::shared_ptr<DeviceCore> core(Device& device) { return device.core(); }
  /// Null if the device belongs to this process only.
  static std::shared_ptr<Ranks> of(Device& device) {
    return std::static_pointer_cast<Ranks>(device.core()->ranks);
  }
  /// The group for calls from the user's thread, or null.
  static RankGroup* group(Device& device) {
    const auto ranks = of(device);
    return ranks ? ranks->calls.get() : nullptr;
  }
};

/// First element of the part of rank r in a block distribution of n elements.
constexpr std::size_t part_begin(std::size_t n, std::size_t r, std::size_t ranks) {
  return n / ranks * r + n % ranks * r / ranks;
}
/// All-gather in place: `values` holds n elements of `each` words, of which every rank has its
/// part.
void gather_parts(RankGroup& ranks, void* values, std::size_t n, std::size_t each);

/// Logical or over all ranks; collective. Without a group returns `value`.
bool on_any_rank(RankGroup* ranks, bool value);

}  // namespace gdr
