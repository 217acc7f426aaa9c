// Inverse sine and cosine: a polynomial up to 1/2, and beyond that of sqrt((1 - |x|) / 2).
#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
namespace {

constexpr double tiny_root = 1e-300;

struct ArcSine {
  Ref angle;
  Ref sign;
  Condition far;
};

/// asin s for s up to 1/2, where s is |x|, or twice that of s = sqrt((1 - |x|) / 2) where |x| is
/// above 1/2, when asin |x| is pi/2 minus this. |x| is limited to 1.
ArcSine arc_sine_parts(Builder& b, const Ref& x, Width width) {
  const Width wide = Width::Long;
  const Ref a = b.emit(Op::Fmin, b.width_of(x), b.absolute(x), b.immediate(1));
  ArcSine parts;
  parts.far = b.flag_of(Op::Fsub, b.immediate(0.5), a, MaskFlag::Negative);
  const Ref rest = b.product(b.emit(Op::Fsub, wide, b.immediate(1), a), b.immediate(0.5), wide);
  const Ref z = b.where(parts.far, b.copy_of(rest, wide), b.product(a, a, wide), wide);
  // 2 sqrt(rest) = 2 q + (rest - q^2) / q, with q = rest / sqrt(rest) as a short.
  const Term root = b.rsqrt({b.emit(Op::Fmax, wide, rest, b.immediate(tiny_root))}, wide);
  const Ref inverse_root = b.product(root.ref, b.immediate(1 / root.scale), Width::Short);
  const Ref q = b.product(rest, inverse_root, Width::Short);
  const Ref error = b.emit(Op::Fsub, wide, rest, b.product(q, q, wide));
  const Ref twice_root =
      b.emit(Op::Fadd, wide, b.emit(Op::Fadd, wide, q, q), b.product(error, inverse_root, wide));
  const Ref s = b.where(parts.far, twice_root, b.copy_of(a, wide), wide);
  const Ref p = width == Width::Short ? b.horner(z, 0.25, coefficients::asin_short, width, width)
                                      : b.horner(z, 0.25, coefficients::asin_long, width, width);
  parts.angle = b.emit(Op::Fadd, wide, s, b.product(s, b.product(z, p, width), wide));
  parts.sign = b.sign_of(x);
  return parts;
}

Ref arc_sine(Builder& b, const Ref& x, Width width) {
  const auto [angle, sign, far] = arc_sine_parts(b, x, width);
  const Ref reflected = b.emit(Op::Fsub, Width::Long, b.immediate(M_PI_2), angle);
  return b.product(b.where(far, reflected, b.copy_of(angle, Width::Long), Width::Long), sign,
                   width);
}

/// acos x = pi/2 - asin x; near 1 the angle itself, near -1 pi minus it.
Ref arc_cosine(Builder& b, const Ref& x, Width width) {
  const auto [angle, sign, far] = arc_sine_parts(b, x, width);
  const Ref turned = b.product(angle, sign, Width::Long);
  const Ref offset = b.product(b.immediate(M_PI_2),
                               b.emit(Op::Fsub, Width::Short, b.immediate(1), sign), Width::Long);
  return b.where(far, b.emit(Op::Fadd, width, offset, turned),
                 b.emit(Op::Fsub, width, b.immediate(M_PI_2), turned), width);
}

/// (1 - x) (1 + x) keeps the digits of 1 - x^2 near -1 and 1.
Slope slope_of_arc_sine(const FunctionAt& at) {
  const Value one = at.number(1);
  const Value rest = at.times(at.minus(one, at.x), at.plus(one, at.x));
  return {at.apply(Fn::Rsqrt, rest), at.less(at.number(0), rest)};
}
Slope slope_of_arc_cosine(const FunctionAt& at) {
  const Slope opposite = slope_of_arc_sine(at);
  return {at.negative(opposite.value), opposite.condition};
}

}  // namespace

extern constexpr Function asin{
    .name = "asin",
    .arguments = "x",
    .meaning = "the angle whose sine is x, from -pi/2 to pi/2",
    .fn = Fn::Asin,
    .value = [](auto x, auto, int) { return std::asin(x); },
    .lower = odd<arc_sine>,
    .slopes = {slope_of_arc_sine},
    .accuracy = {"-1 to 1", "1e-14", "the value at -1 or 1"},
    .timed = {"asin(a)"},
};

extern constexpr Function acos{
    .name = "acos",
    .arguments = "x",
    .meaning = "the angle whose cosine is x, from 0 to pi",
    .fn = Fn::Acos,
    .value = [](auto x, auto, int) { return std::acos(x); },
    .lower = plain<arc_cosine>,
    .slopes = {slope_of_arc_cosine},
    .accuracy = {"-1 to 1", "1e-14, absolute", "the value at -1 or 1"},
    .timed = {"acos(a)"},
};

}  // namespace gdr::kc::functions
