// Conditions: both branches are evaluated, and their assignments are merged by selections.
#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {

void Builder::skip(const Statement& s) {
  any_statement_ = true;
  const SourceRange& where = expr(s.value).where;
  const Value c = arithmetic_.condition(evaluate(s.value, {wide_, false}), where);
  if (c.poison()) return;
  not_skipped_ = arithmetic_.both(
      not_skipped_, arithmetic_.invert(arithmetic_.both(path_, c, where), where), where);
}

/// Restore the slots assigned since the trail had size `mark`; returns their later values.
std::map<std::int32_t, Slot> Builder::undo(std::size_t mark) {
  std::map<std::int32_t, Slot> since;
  while (trail_.size() > mark) {
    auto& [index, before] = trail_.back();
    since.try_emplace(index, slot(index));
    slot(index) = std::move(before);
    trail_.pop_back();
  }
  return since;
}

void Builder::branch(const Statement& s) {
  any_statement_ = true;
  const SourceRange& where = expr(s.value).where;
  const Value c = arithmetic_.condition(evaluate(s.value, {wide_, false}), where);
  if (c.constant) {
    if (c.truth)
      run(s.body);
    else if (s.other != none)
      run(s.other);
    return;
  }
  // After an invalid condition the branches are still checked for errors.
  const Value range_violation = path_;
  const std::size_t mark = trail_.size();
  ++branches_;
  path_ = c.poison() ? range_violation : arithmetic_.both(range_violation, c, where);
  run(s.body);
  const auto yes = undo(mark);
  std::map<std::int32_t, Slot> no;
  if (s.other != none) {
    path_ = c.poison() ? range_violation
                       : arithmetic_.both(range_violation, arithmetic_.invert(c, where), where);
    run(s.other);
    no = undo(mark);
  }
  --branches_;
  path_ = range_violation;
  merge(c, yes, no, where);
}

void Builder::merge(const Value& condition, const std::map<std::int32_t, Slot>& yes,
                    const std::map<std::int32_t, Slot>& no, const SourceRange& where) {
  std::map<std::int32_t, Slot> changed = yes;
  changed.insert(no.begin(), no.end());
  for (const auto& [index, last] : changed) {
    const auto in_yes = yes.find(index);
    const auto in_no = no.find(index);
    Slot a = in_yes != yes.end() ? in_yes->second : slot(index);
    Slot b = in_no != no.end() ? in_no->second : slot(index);
    // A slot that only accumulates is zero where nothing was added.
    for (Slot* s : {&a, &b}) {
      const Slot& other = s == &a ? b : a;
      if (s->state != SlotState::Unassigned || !other.accumulates) continue;
      s->state = SlotState::Assigned;
      s->value = constant_int(0);
      s->accumulates = true;
    }
    Slot merged = last;
    merged.accumulates = a.accumulates && b.accumulates;
    merged.state = a.state == SlotState::Assigned && b.state == SlotState::Assigned
                       ? SlotState::Assigned
                       : SlotState::Partial;
    merged.value = {};
    if (merged.state == SlotState::Assigned)
      merged.value = arithmetic_.choose(condition, a.value, b.value, {}, where);
    definitions_.push_back({none, a.definition, b.definition, false});
    merged.definition = static_cast<std::int32_t>(definitions_.size() - 1);
    set(index, std::move(merged));
  }
}

}  // namespace gdr::kc::front
