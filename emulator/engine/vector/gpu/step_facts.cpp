#include "emulator/engine/vector/gpu/step_facts.hpp"

#include <algorithm>

namespace gdr::codegen {
namespace {

using jit::Op;

constexpr std::uint64_t exponent_bits = std::uint64_t{2047} << 52;

bool keeps_exponent(std::uint64_t mask) { return (mask & exponent_bits) == exponent_bits; }

}  // namespace

StepFacts::StepFacts(const Trace& trace, const std::vector<CarriedRow>& carried)
    : steps_(trace.steps), carried_(carried), carried_of_(steps_.size(), none) {
  for (std::size_t c = 0; c < carried_.size(); ++c) carried_of_[carried_[c].in] = c;
  find_fixed();
  find_numbers();
  find_operands();
  find_escapes(trace);
  find_read_by_threads(trace);
}

bool StepFacts::is_arithmetic(const Step& s) {
  return is_sum_of_device(s) ||
         (s.kind == Step::Kind::Operation &&
          (s.op == Op::Add || s.op == Op::Sub || s.op == Op::Mul || s.op == Op::Fma));
}

void StepFacts::find_fixed() {
  is_fixed_.assign(steps_.size(), false);
  for (StepId n = 0; n < steps_.size(); ++n) {
    const Step& s = steps_[n];
    if (s.kind == Step::Kind::Constant) {
      is_fixed_[n] = true;
    } else if (s.level != Level::Iteration) {
      is_fixed_[n] =
          carried_of_[n] == none && s.op != Op::Collect &&
          std::ranges::all_of(s.in, [&](StepId in) { return in == no_step || is_fixed_[in]; });
    }
  }
}

void StepFacts::find_numbers() {
  is_number_.assign(steps_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (StepId n = 0; n < steps_.size(); ++n) {
      if (is_number_[n]) continue;
      const Step& s = steps_[n];
      const bool chosen = s.kind == Step::Kind::Operation && s.op == Op::Select &&
                          (is_number_[s.in[1]] || is_number_[s.in[2]]);
      const std::size_t c = carried_of_[n];
      const StepId cut = same_but_for_low_bits(s);
      if (!is_arithmetic(s) && !chosen && (cut == no_step || !is_number_[cut]) &&
          (c == none || !is_number_[carried_[c].out]))
        continue;
      is_number_[n] = changed = true;
    }
  }
}

void StepFacts::find_operands() {
  is_operand_.assign(steps_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    const auto mark = [&](StepId n) {
      changed = changed || !is_operand_[n];
      is_operand_[n] = true;
    };
    for (StepId n = static_cast<StepId>(steps_.size()); n-- > 0;) {
      const Step& s = steps_[n];
      if (is_arithmetic(s)) {
        for (const StepId in : s.in)
          if (in != no_step) mark(in);
      } else if (is_operand_[n]) {
        for (const StepId in : passed_on(n)) mark(in);
      }
    }
  }
}

/// What a step passes on as a number.
std::vector<StepId> StepFacts::passed_on(StepId n) const {
  const Step& s = steps_[n];
  if (const std::size_t c = carried_of_[n]; c != none) return {carried_[c].out};
  if (s.kind != Step::Kind::Operation) return {};
  if (s.op == Op::Select) return {s.in[1], s.in[2]};
  if (const StepId x = same_but_for_low_bits(s); x != no_step) return {x};
  return {};
}

void StepFacts::find_escapes(const Trace& trace) {
  std::vector<bool> collected(steps_.size(), true);
  for (const RowStore& store : trace.stores) collected[store.value] = false;
  for (StepId n = static_cast<StepId>(steps_.size()); n-- > 0;) {
    const Step& s = steps_[n];
    if (s.op == Op::Collect) continue;
    for (const StepId in : s.in)
      if (in != no_step && !(s.op == Op::Or && collected[n])) collected[in] = false;
  }
  escapes_.assign(steps_.size(), false);
  for (StepId n = 0; n < steps_.size(); ++n) {
    const Step& s = steps_[n];
    if (s.kind != Step::Kind::Operation || is_arithmetic(s) || s.op == Op::Collect) continue;
    const auto predicate = static_cast<jit::Predicate>(s.detail);
    const bool noticed = s.op == Op::Compare && collected[n] &&
                         predicate != jit::Predicate::Equal && predicate != jit::Predicate::Less;
    if (noticed) continue;
    for (unsigned k = 0; k < (s.op == Op::Select ? 1 : 3); ++k)
      if (s.in[k] != no_step) escapes_[s.in[k]] = true;
  }
  // What no operation uses is not tested itself, but where it comes from.
  for (bool changed = true; changed;) {
    changed = false;
    for (StepId n = static_cast<StepId>(steps_.size()); n-- > 0;) {
      if (!escapes_[n] || is_operand_[n]) continue;
      for (const StepId in : passed_on(n)) {
        changed = changed || !escapes_[in];
        escapes_[in] = true;
      }
    }
  }
}

void StepFacts::find_read_by_threads(const Trace& trace) {
  is_read_by_threads_.assign(steps_.size(), false);
  const auto computed_once = [&](StepId n) {
    return steps_[n].level == Level::Iteration && !is_constant(n);
  };
  for (const Step& s : steps_)
    for (const StepId in : s.in)
      if (in != no_step && s.level != Level::Iteration && computed_once(in))
        is_read_by_threads_[in] = true;
  for (const RowStore& store : trace.stores)
    if (computed_once(store.value)) is_read_by_threads_[store.value] = true;
}

StepId StepFacts::same_but_for_low_bits(const Step& s) const {
  const StepId a = s.in[0], b = s.in[1];
  switch (s.op) {
    case Op::And:
      if (keeps_number(b)) return a;
      if (keeps_number(a)) return b;
      return no_step;
    case Op::AndNot:  // ~a & b
      if (is_flag(a) || (is_constant(a) && keeps_exponent(~steps_[a].bits))) return b;
      return no_step;
    case Op::Or:
      if (has_sign_only(b) || is_last_bit(b)) return a;
      if (has_sign_only(a) || is_last_bit(a)) return b;
      return no_step;
    case Op::Xor:
      if (has_sign_only(b)) return a;
      if (has_sign_only(a)) return b;
      return no_step;
    case Op::IntSub:
      return is_last_bit(b) ? a : no_step;
    default:
      return no_step;
  }
}
bool StepFacts::keeps_number(StepId n) const {
  return is_flag(n) || (is_constant(n) && keeps_exponent(steps_[n].bits));
}
/// All ones or zeros.
bool StepFacts::is_flag(StepId n) const {
  const Step& s = steps_[n];
  if (s.kind != Step::Kind::Operation) return false;
  if (s.op == Op::Compare || s.op == Op::CompareSigned) return true;
  const bool logic = s.op == Op::And || s.op == Op::Or || s.op == Op::AndNot || s.op == Op::Xor;
  const auto flag_or_ones = [&](StepId k) {
    return is_flag(k) || (is_constant(k) && (steps_[k].bits == 0 || ~steps_[k].bits == 0));
  };
  return logic && flag_or_ones(s.in[0]) && flag_or_ones(s.in[1]);
}
bool StepFacts::has_sign_only(StepId n) const {
  const Step& s = steps_[n];
  if (s.kind == Step::Kind::Constant) return (s.bits & ~sign_bit) == 0;
  if (s.kind != Step::Kind::Operation) return false;
  if (s.op == Op::And) return has_sign_only(s.in[0]) || has_sign_only(s.in[1]);
  if (s.op == Op::AndNot) return has_sign_only(s.in[1]);
  if (s.op == Op::Or || s.op == Op::Xor) return has_sign_only(s.in[0]) && has_sign_only(s.in[1]);
  return s.op == Op::Select && has_sign_only(s.in[1]) && has_sign_only(s.in[2]);
}
/// 0 or 1 as an integer: a mask shifted (TestedSteps::truncated, to_odd).
bool StepFacts::is_last_bit(StepId n) const {
  const Step& s = steps_[n];
  return s.kind == Step::Kind::Operation && s.op == Op::ShiftRight && s.detail == 63;
}

}  // namespace gdr::codegen
