// The inverse square root: a seed from the number's bits, a polynomial correction, and Newton
// steps; and the root, x / sqrt(x).
#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc {
namespace {

// 1/sqrt(x), as docs/internals/gravity-kernel.md derives it: y0 = magic - (x >> 1) leaves x y0^2
// between 0.75 and 0.84375; the minimax parabola to rho / sqrt of that, (u + a)^2 + b, then one
// Newton step with scaled constants. y is then 2 rho^3 / sqrt(x), with a relative error of 4e-10.
constexpr std::uint64_t rsqrt_magic = 0x5fe400000;
constexpr double rsqrt_a = -1.32769405841827392578125;
constexpr double rsqrt_b = 1.407470285892486572265625;
constexpr double rsqrt_newton = 6.8217227458953857421875;
constexpr double rsqrt_scale = 6.857869399714055;

}  // namespace

Term Builder::rsqrt(Term x, Width width) {
  if (x.constant) return Term::of(1 / std::sqrt(x.number));
  if (x.scale < 0) x = with_scale(x, -x.scale, width_of(x.ref));
  const double root = std::sqrt(x.scale);
  const Width half = Width::Short;
  const Ref r = short_of(x.ref);
  const Ref h = emit(Op::Ishr, half, r, bits(1));
  const Ref y0 = emit(Op::Isub, half, bits(rsqrt_magic), h);
  const Ref y0y0 = emit(Op::Fmul, half, y0, y0);
  const Ref t0 = emit(Op::Fmul, half, r, y0y0);
  const Ref u = emit(Op::Fadd, half, t0, immediate(rsqrt_a));
  const Ref uu = emit(Op::Fmul, half, u, u);
  const Ref p = emit(Op::Fadd, half, uu, immediate(rsqrt_b));
  const Ref y1 = emit(Op::Fmul, half, y0, p);
  const Ref y1y1 = emit(Op::Fmul, half, y1, y1);
  const Ref t1 = emit(Op::Fmul, half, r, y1y1);
  const Ref n = emit(Op::Fsub, half, immediate(rsqrt_newton), t1);
  const Ref y2 = emit(Op::Fmul, half, n, y1);
  if (width == Width::Short) return root_term({y2, rsqrt_scale / root}, width);

  // y = k / sqrt(x) (1 + e), with e below 1e-7: (3 k^2 - x y^2) y is 2 k^3 / sqrt(x) (1 - 1.5 e^2).
  // In doubles k is one, and so is the scale, whose rounding would be one of the result.
  const double k = graph_.in_longs ? 1 : rsqrt_scale;
  const Ref y = graph_.in_longs ? emit(Op::Fmul, half, immediate(1 / rsqrt_scale), y2) : y2;
  const Ref yy = emit(Op::Fmul, Width::Long, y, y);
  const Ref t2 = width_of(x.ref) == Width::Long ? emit(Op::Dmul, Width::Long, x.ref, yy)
                                                : emit(Op::Fmul, Width::Long, yy, x.ref);
  const Ref n2 = emit(Op::Fsub, Width::Long, immediate(3 * k * k), t2);
  const Ref twice = emit(Op::Fmul, Width::Long, n2, y);
  if (graph_.in_longs)
    return root_term({emit(Op::Fmul, Width::Long, twice, immediate(0.5)), 1 / root}, width);
  return root_term({twice, 2 * k * k * k / root}, width);
}

namespace functions {
namespace {

/// x / sqrt(x), and zero for zero.
Term square_root(Builder& b, Term x, Width width) {
  if (x.constant) return Term::of(std::sqrt(x.number));
  if (x.scale < 0) x = b.with_scale(x, -x.scale, b.width_of(x.ref));
  const MaskId mask = b.new_mask();
  b.set_mask(mask, Op::Fsub, x.ref, b.immediate(0), MaskFlag::Zero, none, true);
  const Term root = b.rsqrt(x, width);
  b.forget_values();  // values computed under the mask must not be reused
  const Term product = b.multiply(x, root, width);
  const Ref made = b.select_constant({mask, false}, product.ref, true, 0, width);
  b.forget_values();
  return {made, product.scale};
}

Term lower_rsqrt(Builder& b, const Node& node, const Term& x, const Term&) {
  return b.rsqrt(x, width_for(node.type));
}
Term lower_sqrt(Builder& b, const Node& node, const Term& x, const Term&) {
  return square_root(b, x, width_for(node.type));
}

Slope slope_of_rsqrt(const FunctionAt& at) {
  return {at.times(at.times(at.number(-0.5), at.f), at.times(at.f, at.f))};
}
Slope slope_of_sqrt(const FunctionAt& at) {
  return {at.times(at.number(0.5), at.apply(Fn::Rsqrt, at.x)), at.less(at.number(0), at.x)};
}

}  // namespace

extern constexpr Function rsqrt{
    .name = "rsqrt",
    .arguments = "x",
    .meaning = "1 / sqrt(x)",
    .fn = Fn::Rsqrt,
    .value = [](auto x, auto, int) { return 1 / std::sqrt(x); },
    .lower = lower_rsqrt,
    .slopes = {slope_of_rsqrt},
    .accuracy = {"positive numbers", "1e-14; in shorts 4e-10 and the rounding",
                 "0: NaN; negative: unspecified"},
    .timed = {"rsqrt(a)"},
};

extern constexpr Function sqrt{
    .name = "sqrt",
    .arguments = "x",
    .meaning = "square root",
    .fn = Fn::Sqrt,
    .value = [](auto x, auto, int) { return std::sqrt(x); },
    .lower = lower_sqrt,
    .slopes = {slope_of_sqrt},
    .accuracy = {"positive numbers, 0", "1e-14", "negative: unspecified"},
    .timed = {"sqrt(a)"},
};

}  // namespace functions
}  // namespace gdr::kc
