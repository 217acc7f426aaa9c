#include "kernels/compiler/schedule/prologue.hpp"

#include <algorithm>
#include <limits>

namespace gdr::kc {
namespace {

bool contributes(const MachineLoop& loop, const MachineOp& op) {
  return op.list != none || (op.out != none && loop.value(op.out).origin == Origin::Accumulator);
}

/// Whether no contribution executes where its mask is closed. A prologue predicate keeps masks
/// closed for a missing item, so it could not suppress such a contribution (an `else`).
bool closed_masks_suffice(const MachineLoop& loop) {
  return std::ranges::none_of(loop.ops, [&](const MachineOp& op) {
    return contributes(loop, op) && op.predicate != none &&
           op.predicate_value == loop.mask(op.predicate).off;
  });
}

/// Whether one instruction would combine a suppressed contribution of the previous item with an
/// unsuppressed one of the current item.
bool prologue_predicates_conflict(const std::vector<bool>& suppressed, const Schedule& schedule) {
  const auto ii = static_cast<int>(schedule.ii);
  std::vector<int> stages(schedule.ii, -1);
  for (std::size_t i = 0; i < suppressed.size(); ++i) {
    if (!suppressed[i] || !schedule.active[i]) continue;
    int& stage = stages[index(schedule.time[i] % ii)];
    if (stage >= 0 && stage != schedule.time[i] / ii) return true;
    stage = schedule.time[i] / ii;
  }
  return false;
}

}  // namespace

std::vector<PipelineMode> pipeline_modes(const MachineLoop& loop, ValueId zeroed_in_pads) {
  std::vector<PipelineMode> modes{{zeroed_in_pads == none ? 1U : 2U, 3, false}};
  if (closed_masks_suffice(loop) && !is_missing_item_neutral(loop)) modes.push_back({1, 2, true});
  return modes;
}

std::vector<bool> suppressed_operations(const MachineLoop& loop) {
  std::vector<bool> suppressed(loop.ops.size(), false);
  for (std::size_t i = 0; i < loop.ops.size(); ++i)
    suppressed[i] = contributes(loop, loop.ops[i]) && loop.ops[i].predicate == none;
  for (const MachineMask& m : loop.masks)
    if (!m.defs.empty()) suppressed[index(m.defs.front())] = true;
  return suppressed;
}

Shifts possible_shifts(const MachineLoop& loop, const Schedule& schedule, unsigned max_stages) {
  int first = std::numeric_limits<int>::max(), last_load = 0, last = 0;
  for (std::size_t i = 0; i < schedule.time.size(); ++i) {
    if (!schedule.active[i]) continue;
    first = std::min(first, schedule.time[i]);
    last = std::max(last, schedule.time[i]);
    const bool loads = i >= loop.ops.size() || loop.ops[i].field != none;
    if (loads) last_load = std::max(last_load, schedule.time[i]);
  }
  const auto ii = static_cast<int>(schedule.ii);
  const int end = ii * static_cast<int>(max_stages);
  return {-first, std::max(-first, std::min(ii - 1 - last_load, end - 1 - last))};
}

void shift(Schedule& schedule, int instructions) {
  for (std::size_t i = 0; i < schedule.time.size(); ++i)
    if (schedule.active[i]) schedule.time[i] += instructions;
}

bool has_correct_prologue(const MachineLoop& loop, const Schedule& schedule, unsigned unroll,
                          const std::vector<bool>& suppressed) {
  const int ii = static_cast<int>(schedule.ii);
  const BodyTimes times{ii * static_cast<int>(unroll), ii};
  const int stages = stage_count(loop, schedule, times);
  if (stages == 1) return true;
  if (!suppressed.empty() && (stages > 2 || prologue_predicates_conflict(suppressed, schedule)))
    return false;
  return prologue_is_neutral(loop, schedule, times, unroll, suppressed);
}

}  // namespace gdr::kc
