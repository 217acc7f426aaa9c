// The steps of functions in floats. Errors are some units of the last place of a float.
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "emulator/engine/native/translate/float_coefficients.hpp"
#include "emulator/engine/native/translate/functions.hpp"

namespace gdr::native {
namespace {

/// Adding it to a number below 2^22 rounds that to an integer, which is then in the last bits.
constexpr float float_ones = 0x1.8p23F;
constexpr unsigned float_exponent_shift = 23;
constexpr int float_bias = 127;
/// A function vanishes at 2^-100: a polynomial of e^f is scaled by this power, and its exponent
/// ends at the least one of floats.
constexpr int scaled_by = 27, least_exponent = -float_bias + scaled_by;

double head_of(double x) { return static_cast<float>(x); }

class Steps {
 public:
  /// `mode`: of the reciprocals.
  Steps(Graph& g, FloatMode mode) : g_(g), estimates_alone_(mode == FloatMode::Fast) {}

  Ref make(Function f, Ref a, Ref b) {
    switch (f) {
      case Function::Exp:
        return exponential(a);
      case Function::Log:
        return logarithm(a);
      case Function::Sin:
        return sine(a, false);
      case Function::Cos:
        return sine(a, true);
      case Function::Tanh:
        return hyperbolic_tangent(a);
      case Function::Erf:
        return error_function(a);
      case Function::Erfc:
        return complementary_error_function(a);
      case Function::Tan:
        return tangent(a);
      case Function::Asin:
        return arc_sine(a);
      case Function::Acos:
        return arc_cosine(a);
      case Function::Atan:
        return arc_tangent(a);
      case Function::Atan2:
        return angle_of_point(b, a);
      case Function::Cbrt:
        return cube_root(a);
      default:
        return power(a, b);
    }
  }

 private:
  Ref number(double x) { return g_.number(x); }
  Ref op(NodeOp o, Ref a, Ref b = no_ref) { return g_.op(o, Kind::Number, a, b); }
  Ref add(Ref a, Ref b) { return op(NodeOp::Add, a, b); }
  Ref sub(Ref a, Ref b) { return op(NodeOp::Sub, a, b); }
  Ref mul(Ref a, Ref b) { return op(NodeOp::Mul, a, b); }
  /// The extremum of a number and a constant; NaN where the number is.
  Ref most(Ref x, double limit) { return op(NodeOp::Min, number(limit), x); }
  Ref least(Ref x, double limit) { return op(NodeOp::Max, number(limit), x); }
  Ref fma(Ref a, Ref b, Ref c, std::uint8_t sign = fma_plain) {
    return g_.add({NodeOp::Fma, Kind::Number, sign, a, b, c, 0});
  }
  /// c - a * b, and a * b - c, rounded once: exact where the terms cancel.
  Ref minus_product(Ref c, Ref a, Ref b) { return fma(a, b, c, fma_negate_product | fma_once); }
  Ref rounding_of(Ref a, Ref b, Ref product) {
    return fma(a, b, product, fma_negate_addend | fma_once);
  }
  /// Bits of a lane.
  Ref bits(std::uint32_t lane) {
    return g_.constant(Kind::Bits, std::uint64_t{lane} << short_shift);
  }
  Ref integer(NodeOp o, Ref a, Ref b) { return g_.op(o, Kind::Bits, a, b); }
  Ref shifted_left(Ref a, unsigned count) { return integer(NodeOp::ShiftLeft, a, bits(count)); }
  /// With a Newton step where reciprocals are the host's estimates alone.
  Ref reciprocal(Ref x) {
    const Ref y = g_.add({NodeOp::Recip, Kind::Number, static_cast<std::uint8_t>(Accuracy::Double),
                          x, no_ref, no_ref, std::bit_cast<std::uint64_t>(1.0)});
    if (!estimates_alone_) return y;
    return fma(fma(x, y, number(1), fma_negate_product), y, y);
  }
  Ref where(Ref mask, Ref yes, Ref no) { return g_.select(mask, yes, no); }
  Ref is_negative(Ref x) { return g_.op(NodeOp::Negative, Kind::Mask, x); }

  /// c[0] + x (c[1] + x (c[2] + ...)), times a power of two.
  Ref polynomial(Ref x, std::span<const double> c, double scale = 1) {
    Ref p = number(c.back() * scale);
    for (std::size_t i = c.size() - 1; i-- > 0;) p = fma(p, x, number(c[i] * scale));
    return p;
  }

  /// An integer n in the last bits of `shifted`, and as a number.
  struct Rounded {
    Ref shifted, n;
  };
  /// The integer nearest to factor * x + offset; the last bits are n + added.
  Rounded rounded(Ref x, double factor, int added) {
    const Ref ones = number(float_ones + static_cast<double>(added));
    const Ref shifted = fma(x, number(factor), ones);
    return {shifted, sub(shifted, ones)};
  }
  /// 2^(n + added), where n + added + 127 is from 0, which gives zero, to 254.
  Ref power_of_two(const Rounded& r) {
    return g_.as_number(shifted_left(g_.as_bits(r.shifted), float_exponent_shift));
  }
  /// x - n log 2.
  Ref rest_of_logarithm(Ref x, Ref n) {
    const double high = head_of(M_LN2);
    return minus_product(minus_product(x, n, number(high)), n, number(M_LN2 - high));
  }

  /// 2^n e^f, with e^f scaled. Above 2^128 it is infinite.
  Ref exponential(Ref x) {
    constexpr double end = 89;
    const Ref limited = most(least(x, least_exponent * M_LN2), end);
    const Rounded r = rounded(limited, M_LOG2E, float_bias - scaled_by);
    const Ref f = rest_of_logarithm(limited, r.n);
    const double scale = std::ldexp(1.0, scaled_by);
    const Ref q = polynomial(f, coefficients::exp_rest, scale);
    const Ref p = fma(fma(q, f, number(scale)), f, number(scale));
    return mul(p, power_of_two(r));
  }

  /// x = 2^n m with m from 2^-1/2 to 2^1/2.
  struct Parts {
    Ref n, m;
  };
  Parts parts_of(Ref x) {
    constexpr std::uint32_t root_half = 0x3f3504f3, exponent = 0xff800000;
    const Ref word = g_.as_bits(x);
    const Ref field =
        integer(NodeOp::And, integer(NodeOp::IntSub, word, bits(root_half)), bits(exponent));
    return {mul(g_.op(NodeOp::FromInt, Kind::Number, field), number(0x1p-23)),
            g_.as_number(integer(NodeOp::IntSub, word, field))};
  }
  /// A value where x is a positive number that is not infinite; else NaN.
  Ref for_positive(Ref x, Ref value) {
    const Ref tiny = is_negative(sub(x, number(std::numeric_limits<float>::min())));
    return where(tiny, number(std::numeric_limits<double>::quiet_NaN()), fma(x, number(0), value));
  }

  Ref logarithm(Ref x) {
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

  /// x^2 + 2^-60, which does not underflow, for polynomials near one.
  Ref small_square(Ref x) {
    return g_.add({NodeOp::Fma, Kind::Number, fma_once, x, x, number(0x1p-60), 0});
  }
  /// x (1 + z P(z)).
  Ref odd_polynomial(Ref x, Ref z, std::span<const double> c) {
    return mul(x, fma(z, polynomial(z, c), number(1)));
  }
  /// A value for fewer than 2^16 turns, else NaN, by an overflow.
  Ref within_turns(Ref turns, Ref value) {
    return fma(mul(turns, number(0x1p112)), number(0), value);
  }
  /// x - n pi `share`, of pi in three parts.
  Ref rest_of_turns(Ref x, Ref n, double share) {
    constexpr double first = 3.140625, second = 9.67502593994140625e-4;
    constexpr double third = 1.50995799097837643e-7;
    for (const double part : {first, second, third}) x = minus_product(x, n, number(part * share));
    return x;
  }
  /// A number with the sign bit of another one applied.
  Ref with_sign_of(Ref x, Ref magnitude) {
    const Ref sign = integer(NodeOp::And, g_.as_bits(x), bits(0x80000000));
    return g_.as_number(integer(NodeOp::Xor, g_.as_bits(magnitude), sign));
  }

  /// (-1)^n sin r with r = x - n pi; the cosine with r = x - (n - 1/2) pi.
  Ref sine(Ref x, bool cosine) {
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
  Ref tangent(Ref x) {
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
  Ref turned(double share, Ref x) {
    const double all = M_PI * share, high = head_of(all);
    return sub(number(high), sub(x, number(all - high)));
  }
  /// a / b.
  Ref quotient(Ref a, Ref b) {
    const Ref inverse = reciprocal(b);
    const Ref q = mul(a, inverse);
    return fma(minus_product(a, q, b), inverse, q);
  }
  /// The angle of a point in the first octant, 0 <= a <= b.
  Ref octant(Ref a, Ref b) {
    const Ref t = quotient(a, b);
    return odd_polynomial(t, small_square(t), coefficients::atan_rest);
  }
  Ref arc_tangent(Ref x) {
    const Ref a = absolute(x);
    const Ref angle = octant(most(a, 1), least(a, 1));
    const Ref steep = is_negative(sub(number(1), a));
    return with_sign_of(x, where(steep, turned(0.5, angle), angle));
  }
  /// atan2(y, x), zero of (0, 0).
  Ref angle_of_point(Ref x, Ref y) {
    const Ref a = absolute(x), b = absolute(y);
    const Ref larger = least(op(NodeOp::Max, a, b), std::numeric_limits<float>::min());
    Ref angle = octant(op(NodeOp::Min, a, b), larger);
    angle = where(is_negative(sub(a, b)), turned(0.5, angle), angle);
    angle = where(is_negative(x), turned(1, angle), angle);
    return with_sign_of(y, angle);
  }

  /// asin |x| up to 1/2; beyond, where pi/2 is that much more than it, 2 asin s with
  /// s^2 = (1 - |x|) / 2.
  struct ArcSine {
    Ref far, angle;
  };
  ArcSine arc_sine_parts(Ref x) {
    const Ref a = most(absolute(x), 1);
    const Ref far = is_negative(sub(number(0.5), a));
    const Ref rest = fma(a, number(0.5), number(0.5), fma_negate_product);
    const Ref limited = least(rest, 0x1p-60);
    const Ref y = g_.add({NodeOp::Rsqrt, Kind::Number, static_cast<std::uint8_t>(Accuracy::Double),
                          limited, no_ref, no_ref, std::bit_cast<std::uint64_t>(1.0)});
    const Ref s = mul(rest, y);
    // 2 (s + (rest - s^2) y / 2)
    const Ref root = fma(minus_product(rest, s, s), y, add(s, s));
    const Ref z = where(far, rest, small_square(a));
    return {far, odd_polynomial(where(far, root, a), z, coefficients::asin_rest)};
  }
  Ref arc_sine(Ref x) {
    const auto [far, angle] = arc_sine_parts(x);
    return with_sign_of(x, where(far, turned(0.5, angle), angle));
  }
  Ref arc_cosine(Ref x) {
    const auto [far, angle] = arc_sine_parts(x);
    const Ref near = turned(0.5, with_sign_of(x, angle));
    return where(far, where(is_negative(x), turned(1, angle), angle), near);
  }

  /// x y^2 (1 - e)^(-2/3) with y near |x|^(-1/3), whose bits are `magic` minus a third of those of
  /// |x|, and e = 1 - |x| y^3.
  Ref cube_root(Ref x) {
    constexpr double magic = 1419900544;
    const Ref a = absolute(x);
    const Ref word = g_.op(NodeOp::FromInt, Kind::Number, g_.as_bits(a));
    const Ref seed = fma(word, number(-1.0 / 3), number(magic));
    const Ref y = g_.as_number(g_.op(NodeOp::ToInt, Kind::Bits, seed));
    const Ref yy = mul(y, y);
    const Ref ayy = mul(yy, a);
    const Ref e = minus_product(number(1), ayy, y);
    const Ref made = fma(mul(ayy, e), polynomial(e, coefficients::cbrt_rest), ayy);
    return with_sign_of(x, made);
  }

  /// E / (E + 2) with E = e^(2x) - 1 = 2^n (e^f - 1) + 2^n - 1.
  Ref hyperbolic_tangent(Ref x) {
    constexpr double end = 9.1;  // 1 from here on
    const Ref limited = most(least(x, -end), end);
    const Ref twice = add(limited, limited);
    const Rounded r = rounded(twice, M_LOG2E, float_bias);
    const Ref f = rest_of_logarithm(twice, r.n);
    const Ref less = mul(f, fma(f, polynomial(f, coefficients::exp_rest), number(1)));
    const Ref two_n = power_of_two(r);
    const Ref e = fma(less, two_n, sub(two_n, number(1)));
    return mul(e, reciprocal(add(e, number(2))));
  }

  Ref absolute(Ref x) { return op(NodeOp::Max, x, sub(number(0), x)); }

  /// x P(x^2) for small x; else 1 - erfc |x| with the sign of x.
  Ref error_function(Ref x) {
    constexpr double end_of_small = 0.7;
    const Ref magnitude = absolute(x);
    const Ref less = sub(number(1), erfc_of_magnitude(magnitude));
    const Ref large = where(is_negative(x), sub(number(0), less), less);
    const Ref small = mul(x, polynomial(small_square(x), coefficients::erf_factor));
    return where(is_negative(sub(magnitude, number(end_of_small))), small, large);
  }

  /// 2 - erfc |x| for a negative x.
  Ref complementary_error_function(Ref x) {
    const Ref value = erfc_of_magnitude(absolute(x));
    return where(is_negative(x), sub(number(2), value), value);
  }
  /// e^(-x^2) t P(t) with t = 1 / (1 + 0.328125 x).
  Ref erfc_of_magnitude(Ref x) {
    constexpr double step = 0.328125, end = 10.2;
    const Ref magnitude = most(x, end);
    const Ref t = reciprocal(fma(magnitude, number(step), number(1)));
    const Ref square = small_square(magnitude);
    const Ref rest = rounding_of(magnitude, magnitude, square);
    const Ref e = exponential(sub(number(0), square));
    const Ref p = polynomial(sub(t, number(0.5)), coefficients::erfc_factor);
    const Ref tp = mul(t, p);
    return mul(e, fma(tp, rest, tp, fma_negate_product));
  }

  /// 2^(y log2 x), with the logarithm and the product in two parts.
  Ref power(Ref x, Ref y) {
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
    const Ref of_zero = least(mul(y, number(-infinity)), 0);
    return where(g_.op(NodeOp::IsZero, Kind::Mask, x), of_zero,
                 for_positive(x, power_of_two(head, tail, y)));
  }
  /// 2^(y (head + tail)).
  Ref power_of_two(Ref head, Ref tail, Ref y) {
    constexpr double end = 129;
    const Ref product = mul(head, y);
    Ref rest = fma(tail, y, rounding_of(head, y, product));
    if (g_.is_constant(y)) {
      const auto value = std::bit_cast<double>(g_[y].bits);
      rest = fma(head, number(value - head_of(value)), rest);
    }
    const Ref limited = most(least(product, least_exponent), end);
    const Rounded r = rounded(limited, 1, float_bias - scaled_by);
    const Ref f = add(sub(limited, r.n), most(least(rest, -0.5), 0.5));
    const double scale = std::ldexp(1.0, scaled_by);
    const Ref p = fma(polynomial(f, coefficients::exp2_rest, scale), f, number(scale));
    return mul(p, power_of_two(r));
  }

  Graph& g_;
  bool estimates_alone_;
};

}  // namespace

Segment with_function_steps(const Segment& s, FloatMode mode) {
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op != NodeOp::Function) return no_ref;
    return Steps(g, mode).make(static_cast<Function>(node.detail), copy(node.a), copy(node.b));
  });
}

}  // namespace gdr::native
