#include "emulator/engine/native/translate/angle_steps.hpp"

#include <cmath>
#include <limits>

#include "emulator/engine/native/translate/float_coefficients.hpp"

namespace gdr::native {

/// A value for fewer than 2^16 turns, else NaN, by an overflow.
Ref AngleSteps::within_turns(Ref turns, Ref value) {
  return fma(mul(turns, number(0x1p112)), number(0), value);
}

/// x - n pi `share`, of pi in three parts.
Ref AngleSteps::rest_of_turns(Ref x, Ref n, double share) {
  constexpr double first = 3.140625, second = 9.67502593994140625e-4;
  constexpr double third = 1.50995799097837643e-7;
  for (const double part : {first, second, third}) x = minus_product(x, n, number(part * share));
  return x;
}

/// (-1)^n sin r with r = x - n pi; the cosine with r = x - (n - 1/2) pi.
Ref AngleSteps::sine(Ref x, bool cosine) {
  const Ref ones = number(float_ones);
  const Ref half = number(0.5);
  const Ref turns = cosine ? fma(x, number(M_1_PI), half) : mul(x, number(M_1_PI));
  const Ref shifted = add(turns, ones);
  const Ref whole = sub(shifted, ones);
  const Ref n = cosine ? sub(whole, half) : whole;
  const Ref r = rest_of_turns(x, n, 1);
  const Ref sign = shifted_left(g_.as_bits(shifted), 31);
  const Ref s = g_.as_number(integer(NodeOp::Xor, g_.as_bits(r), sign));
  const Ref z = small_square(r);
  return within_turns(n, odd_polynomial(s, z, coefficients::sin_rest));
}

/// tan r with r = x - n pi / 2; -1 / tan r for an odd n.
Ref AngleSteps::tangent(Ref x) {
  const Ref ones = number(float_ones);
  const Ref shifted = add(mul(x, number(M_2_PI)), ones);
  const Ref n = sub(shifted, ones);
  const Ref r = rest_of_turns(x, n, 0.5);
  const Ref t = odd_polynomial(r, small_square(r), coefficients::tan_rest);
  const Ref odd = shifted_left(g_.as_bits(shifted), 31);
  const Ref inverse = sub(number(0), reciprocal(t));
  return within_turns(n, where(g_.op(NodeOp::BitsNegative, Kind::Mask, odd), inverse, t));
}

// --- inverse trigonometric functions

/// pi `share` - x, with pi in two parts.
Ref AngleSteps::turned(double share, Ref x) {
  const double all = M_PI * share, high = head_of(all);
  return sub(number(high), sub(x, number(all - high)));
}

/// a / b.
Ref AngleSteps::quotient(Ref a, Ref b) {
  const Ref inverse = reciprocal(b);
  const Ref q = mul(a, inverse);
  return fma(minus_product(a, q, b), inverse, q);
}

/// The angle of a point in the first octant, 0 <= a <= b.
Ref AngleSteps::octant(Ref a, Ref b) {
  const Ref t = quotient(a, b);
  return odd_polynomial(t, small_square(t), coefficients::atan_rest);
}

Ref AngleSteps::arc_tangent(Ref x) {
  const Ref a = absolute(x);
  const Ref angle = octant(at_most(a, 1), at_least(a, 1));
  const Ref steep = is_negative(sub(number(1), a));
  return with_sign_of(x, where(steep, turned(0.5, angle), angle));
}

/// atan2(y, x), zero of (0, 0).
Ref AngleSteps::angle_of_point(Ref x, Ref y) {
  const Ref a = absolute(x), b = absolute(y);
  const Ref larger = at_least(op(NodeOp::Max, a, b), std::numeric_limits<float>::min());
  Ref angle = octant(op(NodeOp::Min, a, b), larger);
  angle = where(is_negative(sub(a, b)), turned(0.5, angle), angle);
  angle = where(is_negative(x), turned(1, angle), angle);
  return with_sign_of(y, angle);
}

AngleSteps::ArcSine AngleSteps::arc_sine_parts(Ref x) {
  const Ref a = at_most(absolute(x), 1);
  const Ref far = is_negative(sub(number(0.5), a));
  const Ref rest = fma(a, number(0.5), number(0.5), fma_negate_product);
  const Ref limited = at_least(rest, 0x1p-60);
  const Ref y = g_.add({NodeOp::Rsqrt, Kind::Number, static_cast<std::uint8_t>(Accuracy::Double),
                        limited, no_ref, no_ref, std::bit_cast<std::uint64_t>(1.0)});
  const Ref s = mul(rest, y);
  // 2 (s + (rest - s^2) y / 2)
  const Ref root = fma(minus_product(rest, s, s), y, add(s, s));
  const Ref z = where(far, rest, small_square(a));
  return {far, odd_polynomial(where(far, root, a), z, coefficients::asin_rest)};
}

Ref AngleSteps::arc_sine(Ref x) {
  const auto [far, angle] = arc_sine_parts(x);
  return with_sign_of(x, where(far, turned(0.5, angle), angle));
}

Ref AngleSteps::arc_cosine(Ref x) {
  const auto [far, angle] = arc_sine_parts(x);
  const Ref near = turned(0.5, with_sign_of(x, angle));
  return where(far, where(is_negative(x), turned(1, angle), angle), near);
}

}  // namespace gdr::native
