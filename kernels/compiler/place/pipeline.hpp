// What a pipelined loop does with items that do not exist: before the first one, and in the place
// of one that is missing from the last group.
#pragma once

#include <vector>

#include "kernels/compiler/place/layout.hpp"

namespace gdr::kc {

/// Times of a schedule on the ring of the body.
struct RingTimes {
  int ring = 0;  ///< instructions of the body
  int interval = 0;
  int position(int time, int copy) const noexcept { return (time + copy * interval) % ring; }
  /// How many passes after its item's own one an operation is done.
  int pass(int time, int copy) const noexcept { return (time + copy * interval) / ring; }
};

/// Passes that an item is under way at most.
int passes_needed(const MachineLoop& loop, const Schedule& schedule, const RingTimes& ring);

/// Whether the later operations of items "before the first" leave every result alone, if all values
/// under way start as zero and all masks as "off".
bool starts_clean(const MachineLoop& loop, const Schedule& schedule, const RingTimes& ring,
                  unsigned copies);

/// Item variables (their values) of which each makes an item contribute nothing when it is zero.
std::vector<ValueId> neutral_fields(const MachineLoop& loop);

}  // namespace gdr::kc
