// The ranks of an open device, for what stands outside the library's core: the command, the
// integrator, distributed matrices.
#pragma once

#include <memory>

#include "gdr/device.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/agree.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {

struct DeviceRanks {
  static std::shared_ptr<DeviceCore> core(Device& device) { return device.core(); }
  /// Null where the device is this process's own.
  static std::shared_ptr<Ranks> of(Device& device) {
    return std::static_pointer_cast<Ranks>(device.core()->ranks);
  }
  /// The group for calls from the user's thread; null likewise.
  static RankGroup* group(Device& device) {
    const auto ranks = of(device);
    return ranks ? ranks->calls.get() : nullptr;
  }
};

/// Where the part of rank r begins when n elements that all ranks have are dealt out.
constexpr std::size_t part_begin(std::size_t n, std::size_t r, std::size_t ranks) {
  return n / ranks * r + n % ranks * r / ranks;
}
/// `values` holds n elements of `each` words; every rank has filled its part, and gets the others'.
void gather_parts(RankGroup& ranks, void* values, std::size_t n, std::size_t each);

/// True on all ranks if it is true on any; collective. Without a group it is what it is here.
bool on_any_rank(RankGroup* ranks, bool here);

}  // namespace gdr
