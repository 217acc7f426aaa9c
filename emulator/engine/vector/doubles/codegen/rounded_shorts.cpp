#include "emulator/engine/vector/doubles/codegen/rounded_shorts.hpp"

#include <bit>

namespace gdr::codegen {
namespace {

using jit::Op;

/// The factor of round_short.
bool is_far(const Step& s) {
  return s.kind == Step::Kind::Constant && s.bits == std::bit_cast<std::uint64_t>(0x1p28);
}

}  // namespace

RoundedShorts::RoundedShorts(const Trace& trace)
    : steps_(trace.steps), readers_(steps_.size(), 0), is_inner_(steps_.size(), false) {
  for (const Step& s : steps_)
    for (const StepId in : s.in)
      if (in != no_step) ++readers_[in];
  for (const RowStore& s : trace.stores) ++readers_[s.value];
  for (StepId n = 0; n < steps_.size(); ++n)
    if (rounded_by(n) != no_step) is_inner_[steps_[n].in[2]] = true;
}

bool RoundedShorts::is_difference(StepId n, StepId a, StepId b) const {
  const Step& s = steps_[n];
  return s.kind == Step::Kind::Operation && s.op == Op::Fma && s.detail == jit::negate_addend &&
         s.in[0] == a && s.in[1] == b;
}

StepId RoundedShorts::rounded_by(StepId n) const {
  if (steps_[n].op != Op::Fma) return no_step;
  const auto [x, c, inner] = steps_[n].in;
  const bool found = is_difference(n, x, c) && is_far(steps_[c]) && is_difference(inner, x, c) &&
                     steps_[inner].in[2] == x && readers_[inner] == 1 &&
                     steps_[inner].level == steps_[n].level;
  return found ? x : no_step;
}

bool RoundedShorts::is_never_minus_zero(StepId n) const {
  const Step& s = steps_[n];
  if (s.kind == Step::Kind::Constant) return (s.bits >> 63) == 0;
  if (s.kind != Step::Kind::Operation) return false;
  if (s.op == Op::Mul) return s.in[0] == s.in[1];
  const StepId x = rounded_by(n);
  return x != no_step && is_never_minus_zero(x);
}

}  // namespace gdr::codegen
