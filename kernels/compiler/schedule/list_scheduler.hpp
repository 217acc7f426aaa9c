// Fallback scheduler: list scheduling of one item at a time, with spilling.
#pragma once

#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// Values with short lifetimes stay in registers, the others are spilled to local memory. The loop
/// is rewritten so that no instruction accesses local memory twice (operands and results go through
/// T). Operations issue as early as ports allow, without overlapping items. Port limits hold;
/// capacities are checked by the allocation.
Schedule list_schedule(MachineLoop& loop, unsigned register_shorts);

}  // namespace gdr::kc
