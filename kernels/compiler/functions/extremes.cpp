// The smaller and the larger of two numbers or ints. Their derivatives are those of a selection
// (front/derivative.cpp).
#include <utility>

#include "kernels/compiler/functions/definition.hpp"
#include "kernels/compiler/ir/evaluate.hpp"

namespace gdr::kc::functions {
namespace {

Term extreme(Builder& b, Op op, Term x, Term y, Width width) {
  if (x.constant) std::swap(x, y);
  if (x.scale < 0) x = b.with_scale(x, -x.scale, width);
  y = b.with_scale(y, x.scale, width);
  return {b.emit(op, width, x.ref, y.ref), x.scale};
}
Term smaller(Builder& b, const Node& node, const Term& x, const Term& y) {
  return extreme(b, Op::Fmin, x, y, width_for(node.type));
}
Term larger(Builder& b, const Node& node, const Term& x, const Term& y) {
  return extreme(b, Op::Fmax, x, y, width_for(node.type));
}

}  // namespace

extern constexpr Function min{
    .name = "min",
    .arguments = "a, b",
    .meaning = "the smaller; NaN if either is NaN",
    .fn = Fn::Min,
    .value = [](auto x, auto y, int) { return evaluation::extreme(true, x, y); },
    .call = [](const Call& c) { return c.with.extreme(Fn::Min, c.a[0], c.a[1], c.ctx, c.where); },
    .lower = smaller,
    .accuracy = {"all numbers", "exact"},
};

extern constexpr Function max{
    .name = "max",
    .arguments = "a, b",
    .meaning = "the larger; NaN if either is NaN",
    .fn = Fn::Max,
    .value = [](auto x, auto y, int) { return evaluation::extreme(false, x, y); },
    .call = [](const Call& c) { return c.with.extreme(Fn::Max, c.a[0], c.a[1], c.ctx, c.where); },
    .lower = larger,
    .accuracy = {"all numbers", "exact"},
};

}  // namespace gdr::kc::functions
