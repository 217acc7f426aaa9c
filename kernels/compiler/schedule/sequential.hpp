// The schedule of last resort: operations in order, with what does not fit registers spilled.
#pragma once

#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// Short-lived values stay in registers, the others go to local memory. The loop is rewritten so
/// that no instruction touches local memory twice (operands and results go through T), and its
/// operations are issued as early as ports allow, items not overlapping. It keeps every port limit;
/// what it may lack is room, which placement finds out.
Schedule schedule_in_order(MachineLoop& loop, unsigned register_shorts);

}  // namespace gdr::kc
