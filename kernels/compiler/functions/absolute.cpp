// The absolute value.
#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
namespace {

Term magnitude(Builder& b, const Node& node, const Term& x, const Term&) {
  const Width width = width_for(node.type);
  const Ref negative = b.emit(Op::Fsub, width, b.immediate(0), x.ref);
  return {b.emit(Op::Fmax, width, x.ref, negative), std::abs(x.scale)};
}

Slope slope_of_absolute(const FunctionAt& at) {
  const Value zero = at.number(0);
  const auto choose = [&](const Value& c, double yes, const Value& no) {
    return at.with.choose(c, at.number(yes), no, at.ctx, at.where);
  };
  return {choose(at.less(at.x, zero), -1, choose(at.less(zero, at.x), 1, zero))};
}

}  // namespace

extern constexpr Function abs{
    .name = "abs",
    .arguments = "x",
    .meaning = "absolute value, of numbers and ints",
    .fn = Fn::Abs,
    .value = [](auto x, auto, int) { return std::signbit(x) ? -x : x; },
    .call = [](const Call& c) { return c.with.absolute(c.a[0], c.where); },
    .lower = magnitude,
    .slopes = {slope_of_absolute},
    .accuracy = {"all numbers", "exact"},
};

}  // namespace gdr::kc::functions
