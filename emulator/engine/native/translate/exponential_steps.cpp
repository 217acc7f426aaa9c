#include "emulator/engine/native/translate/exponential_steps.hpp"

#include <cmath>
#include <limits>

#include "emulator/engine/native/translate/float_coefficients.hpp"

namespace gdr::native {
namespace {

constexpr int float_bias = 127;
/// A function vanishes at 2^-100: a polynomial of e^f is scaled by this power, and its exponent
/// ends at the least one of floats.
constexpr int scaled_by = 27, min_exponent = -float_bias + scaled_by;

}  // namespace

/// The integer nearest to factor * x + offset; the last bits are n + added.
ExponentialSteps::Rounded ExponentialSteps::rounded(Ref x, double factor, int added) {
  const Ref ones = number(float_ones + static_cast<double>(added));
  const Ref shifted = fma(x, number(factor), ones);
  return {shifted, sub(shifted, ones)};
}

/// 2^(n + added), where n + added + 127 is from 0, which gives zero, to 254.
Ref ExponentialSteps::power_of_two(const Rounded& r) {
  return g_.as_number(shifted_left(g_.as_bits(r.shifted), float_exponent_shift));
}

/// x - n log 2.
Ref ExponentialSteps::rest_of_logarithm(Ref x, Ref n) {
  const double high = head_of(M_LN2);
  return minus_product(minus_product(x, n, number(high)), n, number(M_LN2 - high));
}

/// 2^n e^f. Arguments need no limits: where 2^n is none of floats, the result is infinite or not a
/// number, or zero.
Ref ExponentialSteps::exponential_by_scaling(Ref x) {
  constexpr double least = -100 * M_LN2;
  const Rounded r = rounded(x, M_LOG2E, 0);
  const Ref f = rest_of_logarithm(x, r.n);
  const Ref p = fma(fma(polynomial(f, coefficients::exp_rest), f, number(1)), f, number(1));
  return where(is_negative(sub(x, number(least))), number(0), op(NodeOp::Scale, p, r.n));
}

/// 2^n e^f, with e^f scaled. Above 2^128 it is infinite.
Ref ExponentialSteps::exponential(Ref x) {
  if (scales_) return exponential_by_scaling(x);
  constexpr double end = 89;
  const Ref limited = at_most(at_least(x, min_exponent * M_LN2), end);
  const Rounded r = rounded(limited, M_LOG2E, float_bias - scaled_by);
  const Ref f = rest_of_logarithm(limited, r.n);
  const double scale = std::ldexp(1.0, scaled_by);
  const Ref q = polynomial(f, coefficients::exp_rest, scale);
  const Ref p = fma(fma(q, f, number(scale)), f, number(scale));
  return mul(p, power_of_two(r));
}

ExponentialSteps::Parts ExponentialSteps::parts_of(Ref x) {
  constexpr std::uint32_t root_half = 0x3f3504f3, exponent = 0xff800000;
  const Ref word = g_.as_bits(x);
  const Ref field =
      integer(NodeOp::And, integer(NodeOp::IntSub, word, bits(root_half)), bits(exponent));
  return {mul(g_.op(NodeOp::FromInt, Kind::Number, field), number(0x1p-23)),
          g_.as_number(integer(NodeOp::IntSub, word, field))};
}

/// A value where x is a positive number that is not infinite; else NaN.
Ref ExponentialSteps::for_positive(Ref x, Ref value) {
  const Ref tiny = is_negative(sub(x, number(std::numeric_limits<float>::min())));
  return where(tiny, number(std::numeric_limits<double>::quiet_NaN()), fma(x, number(0), value));
}

Ref ExponentialSteps::logarithm(Ref x) {
  constexpr double high = 355.0 / 512;  // its products with n are exact
  const auto [n, m] = parts_of(x);
  const Ref f = sub(m, number(1));
  const Ref l = polynomial(f, coefficients::log_rest);
  const Ref small = fma(n, number(M_LN2 - high), mul(mul(f, f), l));
  const Ref made = for_positive(x, fma(n, number(high), add(f, small)));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Ref is_infinite = is_negative(sub(number(std::numeric_limits<float>::max()), x));
  const Ref with_zero = where(g_.op(NodeOp::IsZero, Kind::Mask, x), number(-infinity), made);
  return where(is_infinite, x, with_zero);
}

/// E / (E + 2) with E = e^(2x) - 1 = 2^n (e^f - 1) + 2^n - 1.
Ref ExponentialSteps::hyperbolic_tangent(Ref x) {
  constexpr double end = 9.1;  // 1 from here on
  const Ref limited = at_most(at_least(x, -end), end);
  const Ref twice = add(limited, limited);
  const Rounded r = rounded(twice, M_LOG2E, float_bias);
  const Ref f = rest_of_logarithm(twice, r.n);
  const Ref less = mul(f, fma(f, polynomial(f, coefficients::exp_rest), number(1)));
  const Ref two_n = power_of_two(r);
  const Ref e = fma(less, two_n, sub(two_n, number(1)));
  return mul(e, reciprocal(add(e, number(2))));
}

/// x P(x^2) for small x; else 1 - erfc |x| with the sign of x.
Ref ExponentialSteps::error_function(Ref x) {
  constexpr double end_of_small = 0.7;
  const Ref magnitude = absolute(x);
  const Ref less = sub(number(1), erfc_of_magnitude(magnitude));
  const Ref large = where(is_negative(x), sub(number(0), less), less);
  const Ref small = mul(x, polynomial(small_square(x), coefficients::erf_factor));
  return where(is_negative(sub(magnitude, number(end_of_small))), small, large);
}

/// 2 - erfc |x| for a negative x.
Ref ExponentialSteps::complementary_error_function(Ref x) {
  const Ref value = erfc_of_magnitude(absolute(x));
  return where(is_negative(x), sub(number(2), value), value);
}

/// e^(-x^2) t P(t) with t = 1 / (1 + 0.328125 x).
Ref ExponentialSteps::erfc_of_magnitude(Ref x) {
  constexpr double step = 0.328125, end = 10.2;
  const Ref magnitude = at_most(x, end);
  const Ref t = reciprocal(fma(magnitude, number(step), number(1)));
  const Ref square = small_square(magnitude);
  const Ref rest = rounding_of(magnitude, magnitude, square);
  const Ref e = exponential(sub(number(0), square));
  const Ref p = polynomial(sub(t, number(0.5)), coefficients::erfc_factor);
  const Ref tp = mul(t, p);
  return mul(e, fma(tp, rest, tp, fma_negate_product));
}

/// 2^(y log2 x), with the logarithm and the product in two parts.
Ref ExponentialSteps::power(Ref x, Ref y) {
  if (g_.is_constant(x)) {
    const double logarithm = std::log2(std::bit_cast<double>(g_[x].bits));
    const double high = head_of(logarithm);
    return power_of_two(number(high), number(logarithm - high), y);
  }
  const auto [n, m] = parts_of(x);
  // s = (m - 1) / (m + 1) in two parts.
  const Ref f = sub(m, number(1)), g = add(m, number(1));
  const Ref of_g = add(sub(number(1), g), m);  // the rounding of g
  const Ref inverse = reciprocal(g);
  const Ref s = mul(f, inverse);
  const Ref of_s = mul(fma(s, of_g, minus_product(f, s, g), fma_negate_product), inverse);
  constexpr double slope = 2 / M_LN2;
  const double high = head_of(slope);
  const Ref z = mul(s, s);
  const Ref main = mul(s, number(high));
  const Ref cubic = mul(mul(s, z), polynomial(z, coefficients::log2_rest));
  Ref rest = add(cubic, rounding_of(s, number(high), main));
  rest = fma(s, number(slope - high), fma(of_s, number(slope), rest));
  const Ref head = add(n, main);
  const Ref tail = add(add(sub(n, head), main), rest);
  // Of zero: 0 for a positive y, infinite for a negative one.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Ref of_zero = at_least(mul(y, number(-infinity)), 0);
  return where(g_.op(NodeOp::IsZero, Kind::Mask, x), of_zero,
               for_positive(x, power_of_two(head, tail, y)));
}

/// 2^(y (head + tail)).
Ref ExponentialSteps::power_of_two(Ref head, Ref tail, Ref y) {
  constexpr double end = 129;
  const Ref product = mul(head, y);
  Ref rest = fma(tail, y, rounding_of(head, y, product));
  if (g_.is_constant(y)) {
    const auto value = std::bit_cast<double>(g_[y].bits);
    rest = fma(head, number(value - head_of(value)), rest);
  }
  const Ref limited = at_most(at_least(product, min_exponent), end);
  const Rounded r = rounded(limited, 1, float_bias - scaled_by);
  const Ref f = add(sub(limited, r.n), at_most(at_least(rest, -0.5), 0.5));
  const double scale = std::ldexp(1.0, scaled_by);
  const Ref p = fma(polynomial(f, coefficients::exp2_rest, scale), f, number(scale));
  return mul(p, power_of_two(r));
}

}  // namespace gdr::native
