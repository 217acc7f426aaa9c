// Behaviour of a pipelined loop for nonexistent items: in the prologue, and in an incomplete last
// group.
#pragma once

#include <vector>

#include "kernels/compiler/regalloc/allocation.hpp"

namespace gdr::kc {

/// Conversion of issue times to rows and stages of the unrolled body.
struct BodyTimes {
  int body_length = 0;  ///< instructions of the body: II times unroll factor
  int ii = 0;
  int position(int time, int copy) const noexcept { return (time + copy * ii) % body_length; }
  /// Pipeline stage in iterations of the body: how many iterations after its item's start an
  /// operation executes.
  int stage(int time, int copy) const noexcept { return (time + copy * ii) / body_length; }
};

/// Number of pipeline stages, in iterations of the body.
int stage_count(const MachineLoop& loop, const Schedule& schedule, const BodyTimes& times);

/// Whether operations of items "before the first" leave all results unchanged, if all live values
/// start as zero and all masks as off.
bool prologue_is_neutral(const MachineLoop& loop, const Schedule& schedule, const BodyTimes& times,
                         unsigned unroll);

/// Fields (item variables) that make an item contribute nothing if they are zero.
std::vector<ValueId> neutral_fields(const MachineLoop& loop);

}  // namespace gdr::kc
