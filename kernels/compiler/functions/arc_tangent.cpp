// The inverse tangent and the angle of a point: a polynomial on a small interval, to which
// symmetries lead.
#include <span>

#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
namespace {

constexpr double tan_of_eighth = 0.41421356;  // of pi / 8
constexpr double tiny = 1e-300;

/// The angle of the point (x, y). With a and c the smaller and the larger of |x| and |y|, atan(a/c)
/// is pi/4 + atan((a - c) / (a + c)) where a/c is above tan(pi/8); then reflections.
Ref arc_tangent(Builder& b, const Ref& y, const Ref& x, Width width) {
  const Width wide = Width::Long;
  const Ref ax = b.absolute(x), ay = b.absolute(y);
  const Ref a = b.emit(Op::Fmin, wide, ax, ay);
  const Ref larger = b.emit(Op::Fmax, wide, b.emit(Op::Fmax, wide, ax, ay), b.immediate(tiny));
  const Ref c = b.emit(Op::Fmin, wide, larger, b.immediate(1 / tiny));
  const Ref limit = b.product(c, b.immediate(nearest_short(tan_of_eighth)), wide);
  const Condition far = b.flag_of(Op::Fsub, limit, a, MaskFlag::Negative);
  const Ref above = b.where(far, b.emit(Op::Fsub, wide, a, c), b.copy_of(a, wide), wide);
  const Ref below = b.where(far, b.emit(Op::Fadd, wide, a, c), b.copy_of(c, wide), wide);
  const Ref q = b.ratio(above, below, width, wide);
  const Ref z = b.product(q, q, wide);
  constexpr double largest = 0.1716;
  std::span<const double> terms = coefficients::atan_long;
  if (width == Width::Short) terms = coefficients::atan_short;
  if (width == Width::Long && b.in_longs()) terms = coefficients::atan_double;
  const Ref p = b.horner(z, largest, terms, width, width);
  Ref angle = b.emit(Op::Fadd, wide, q, b.product(q, b.product(z, p, width), wide));
  angle = b.where(far, b.emit(Op::Fadd, wide, angle, b.immediate(M_PI_4)), b.copy_of(angle, wide),
                  wide);
  const Condition steep = b.flag_of(Op::Fsub, ax, ay, MaskFlag::Negative);
  angle = b.where(steep, b.emit(Op::Fsub, wide, b.immediate(M_PI_2), angle), b.copy_of(angle, wide),
                  wide);
  const Condition left = b.flag_of(Op::Fsub, x, b.immediate(0), MaskFlag::Negative);
  angle =
      b.where(left, b.emit(Op::Fsub, wide, b.immediate(M_PI), angle), b.copy_of(angle, wide), wide);
  return b.product(angle, b.sign_of(y), width);
}

/// Of the angle of the point (y, x): x is the first argument.
Slope slope_of_angle(const FunctionAt& at, const Value& by) {
  const Value r2 = at.plus(at.times(at.x, at.x), at.times(at.y, at.y));
  const bool never_zero =
      (at.y.constant && at.y.number != 0) || (at.x.constant && at.x.number != 0);
  return {at.over(by, r2), never_zero ? front::constant_bool(true) : at.less(at.number(0), r2)};
}
Slope slope_by_y(const FunctionAt& at) { return slope_of_angle(at, at.y); }
Slope slope_by_x(const FunctionAt& at) { return slope_of_angle(at, at.negative(at.x)); }

}  // namespace

extern constexpr Function atan{
    .name = "atan",
    .arguments = "x",
    .meaning = "the angle whose tangent is x, from -pi/2 to pi/2",
    .call =
        [](const Call& c) {
          return c.with.round2(Fn::Atan2, c.a[0], constant_number(1), c.ctx, c.where);
        },
    .accuracy = {"up to 1e300", "1e-14", "of infinities pi/2 and -pi/2"},
};

extern constexpr Function atan2{
    .name = "atan2",
    .arguments = "y, x",
    .meaning = "the angle of the point (x, y), from -pi to pi",
    .fn = Fn::Atan2,
    .value = [](auto y, auto x, int) { return std::atan2(y, x); },
    .lower = of_two<arc_tangent>,
    .slopes = {slope_by_y, slope_by_x},
    .accuracy = {"arguments of which the larger is between 1e-300 and 1e300", "1e-14",
                 "atan2(0, 0) is 0; of two infinities NaN; else unspecified"},
    .timed = {"atan2(a, b)"},
};

}  // namespace gdr::kc::functions
