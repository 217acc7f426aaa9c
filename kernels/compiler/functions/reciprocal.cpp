// The reciprocal: a seed from the number's bits, a polynomial correction, and Newton steps.
#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc {
namespace {

// 1/x: y0 = magic - x, the bits taken as integers, leaves t = x y0 between 0.7071 and 0.7286 (the
// offset sqrt(2) - 1 of the magic number balances both ends). (c - t) y0 is then within 1.1e-4 of
// a multiple of 1 / x, and a Newton step squares that. c is the sum of the ends of the range.
constexpr std::uint64_t reciprocal_magic = (std::uint64_t{2045} << 24) | 6949350;
constexpr double reciprocal_c = 1.435660183429718017578125;
constexpr double reciprocal_mean = 0.51522254;  // x y1, with a relative error of 1.1e-4
constexpr double reciprocal_bias = 6e-9;        // the mean of the squared error

}  // namespace

Term Builder::reciprocal(Term x, Width width) {
  if (x.constant) return Term::of(1 / x.number);
  const Width half = Width::Short;
  const Ref r = short_of(x.ref);
  const Ref y0 = emit(Op::Isub, half, bits(reciprocal_magic), r);
  const Ref t0 = emit(Op::Fmul, half, r, y0);
  const Ref p = emit(Op::Fsub, half, immediate(reciprocal_c), t0);
  const Ref y1 = emit(Op::Fmul, half, y0, p);
  // y1 = k / x (1 + e): (2 k - x y1) y1 is k^2 / x (1 - e^2).
  constexpr double k = reciprocal_mean;
  const double two_k = nearest_short(2 * k);
  const Ref t1 = emit(Op::Fmul, half, r, y1);
  const Ref n = emit(Op::Fsub, half, immediate(two_k), t1);
  const Ref y2 = emit(Op::Fmul, half, y1, n);
  const double scale = two_k * two_k / 4 * (1 - reciprocal_bias);
  if (width == Width::Short) return root_term({y2, scale / x.scale}, width);

  const double all = graph_.in_longs ? 1 : scale;
  const Ref y = graph_.in_longs ? emit(Op::Fmul, half, immediate(1 / scale), y2) : y2;
  const Ref t2 = emit(Op::Fmul, Width::Long, x.ref, y);
  const Ref n2 = emit(Op::Fsub, Width::Long, immediate(2 * all), t2);
  return root_term({emit(Op::Fmul, Width::Long, n2, y), all * all / x.scale}, width);
}

namespace functions {
namespace {

Term lower_reciprocal(Builder& b, const Node& node, const Term& x, const Term&) {
  return b.reciprocal(x, width_for(node.type));
}
Slope slope_of_reciprocal(const FunctionAt& at) { return {at.negative(at.times(at.f, at.f))}; }

}  // namespace

extern constexpr Function recip{
    .name = "recip",
    .arguments = "x",
    .meaning = "1 / x",
    .fn = Fn::Reciprocal,
    .value = [](auto x, auto, int) { return 1 / x; },
    .lower = lower_reciprocal,
    .slopes = {slope_of_reciprocal},
    .accuracy = {"all numbers but 0", "1e-14; in shorts 1.3e-8 and the rounding", "0: NaN"},
    .timed = {"recip(a)"},
};

}  // namespace functions
}  // namespace gdr::kc
