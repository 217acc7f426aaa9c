// Inverse trigonometric functions: polynomials on small intervals, to which symmetries lead.
#include <cmath>
#include <span>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
namespace {

constexpr double tan_of_eighth = 0.41421356;  // of pi / 8
constexpr double tiny = 1e-300;

}  // namespace

/// The angle of the point (x, y). With a and b the smaller and the larger of |x| and |y|, atan(a/b)
/// is pi/4 + atan((a - b) / (a + b)) where a/b is above tan(pi/8); then reflections.
Ref Builder::arc_tangent(const Ref& y, const Ref& x, Width width) {
  const Width wide = Width::Long;
  const Ref ax = absolute(x), ay = absolute(y);
  const Ref a = emit(Op::Fmin, wide, ax, ay);
  const Ref larger = emit(Op::Fmax, wide, emit(Op::Fmax, wide, ax, ay), immediate(tiny));
  const Ref b = emit(Op::Fmin, wide, larger, immediate(1 / tiny));
  const Ref limit = product(b, immediate(nearest_short(tan_of_eighth)), wide);
  const Condition far = flag_of(Op::Fsub, limit, a, MaskFlag::Negative);
  const Ref above = where(far, emit(Op::Fsub, wide, a, b), copy_of(a, wide), wide);
  const Ref below = where(far, emit(Op::Fadd, wide, a, b), copy_of(b, wide), wide);
  const Ref q = ratio(above, below, width, wide);
  const Ref z = product(q, q, wide);
  constexpr double largest = 0.1716;
  std::span<const double> c = coefficients::atan_long;
  if (width == Width::Short) c = coefficients::atan_short;
  if (width == Width::Long && graph_.in_longs) c = coefficients::atan_double;
  const Ref p = horner(z, largest, c, width, width);
  Ref angle = emit(Op::Fadd, wide, q, product(q, product(z, p, width), wide));
  angle = where(far, emit(Op::Fadd, wide, angle, immediate(M_PI_4)), copy_of(angle, wide), wide);
  const Condition steep = flag_of(Op::Fsub, ax, ay, MaskFlag::Negative);
  angle = where(steep, emit(Op::Fsub, wide, immediate(M_PI_2), angle), copy_of(angle, wide), wide);
  const Condition left = flag_of(Op::Fsub, x, immediate(0), MaskFlag::Negative);
  angle = where(left, emit(Op::Fsub, wide, immediate(M_PI), angle), copy_of(angle, wide), wide);
  return product(angle, sign_of(y), width);
}

/// asin s for s up to 1/2, where s is |x|, or twice that of s = sqrt((1 - |x|) / 2) where |x| is
/// above 1/2, when asin |x| is pi/2 minus this. |x| is limited to 1.
Builder::ArcSine Builder::arc_sine_parts(const Ref& x, Width width) {
  const Width wide = Width::Long;
  const Ref a = emit(Op::Fmin, width_of(x), absolute(x), immediate(1));
  ArcSine parts;
  parts.far = flag_of(Op::Fsub, immediate(0.5), a, MaskFlag::Negative);
  const Ref rest = product(emit(Op::Fsub, wide, immediate(1), a), immediate(0.5), wide);
  const Ref z = where(parts.far, copy_of(rest, wide), product(a, a, wide), wide);
  // 2 sqrt(rest) = 2 q + (rest - q^2) / q, with q = rest / sqrt(rest) as a short.
  const Term root = rsqrt({emit(Op::Fmax, wide, rest, immediate(tiny))}, wide);
  const Ref inverse_root = product(root.ref, immediate(1 / root.scale), Width::Short);
  const Ref q = product(rest, inverse_root, Width::Short);
  const Ref error = emit(Op::Fsub, wide, rest, product(q, q, wide));
  const Ref twice_root =
      emit(Op::Fadd, wide, emit(Op::Fadd, wide, q, q), product(error, inverse_root, wide));
  const Ref s = where(parts.far, twice_root, copy_of(a, wide), wide);
  const Ref p = width == Width::Short ? horner(z, 0.25, coefficients::asin_short, width, width)
                                      : horner(z, 0.25, coefficients::asin_long, width, width);
  parts.angle = emit(Op::Fadd, wide, s, product(s, product(z, p, width), wide));
  parts.sign = sign_of(x);
  return parts;
}

Ref Builder::arc_sine(const Ref& x, Width width) {
  const auto [angle, sign, far] = arc_sine_parts(x, width);
  const Ref reflected = emit(Op::Fsub, Width::Long, immediate(M_PI_2), angle);
  return product(where(far, reflected, copy_of(angle, Width::Long), Width::Long), sign, width);
}

/// acos x = pi/2 - asin x; near 1 the angle itself, near -1 pi minus it.
Ref Builder::arc_cosine(const Ref& x, Width width) {
  const auto [angle, sign, far] = arc_sine_parts(x, width);
  const Ref turned = product(angle, sign, Width::Long);
  const Ref offset =
      product(immediate(M_PI_2), emit(Op::Fsub, Width::Short, immediate(1), sign), Width::Long);
  return where(far, emit(Op::Fadd, width, offset, turned),
               emit(Op::Fsub, width, immediate(M_PI_2), turned), width);
}

}  // namespace gdr::kc
