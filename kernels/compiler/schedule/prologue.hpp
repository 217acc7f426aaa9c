// Ways of pipelining a loop, and whether the prologue of a schedule leaves all results unchanged.
#pragma once

#include <vector>

#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// A way of pipelining.
struct PipelineMode {
  unsigned unroll, max_stages;
  bool prologue_predicated;  ///< the prologue predicate suppresses operations of missing items
};
constexpr PipelineMode unpipelined_mode{1, 1, false};

/// The ways to try. `zeroed_in_pads`: the field whose zero makes a source contribute nothing, or
/// none.
std::vector<PipelineMode> pipeline_modes(const MachineLoop& loop, ValueId zeroed_in_pads);

/// The operations that the prologue predicate suppresses for a missing item: contributions, and the
/// first one that sets a mask. Later ones that set it have a predicate of their own; whether they
/// keep it closed depends on the schedule (prologue_is_neutral).
std::vector<bool> suppressed_operations(const MachineLoop& loop);

/// Instructions by which all operations can issue later, while fields are loaded in the first
/// stage.
struct Shifts {
  int least, most;
};
Shifts possible_shifts(const MachineLoop& loop, const Schedule& schedule, unsigned max_stages);
/// Issue all operations later.
void shift(Schedule& schedule, int instructions);

/// Whether the schedule, unrolled so often, changes no result by items before the first one.
/// `suppressed`: the operations that the prologue predicate suppresses; empty without it.
bool has_correct_prologue(const MachineLoop& loop, const Schedule& schedule, unsigned unroll,
                          const std::vector<bool>& suppressed);

}  // namespace gdr::kc
