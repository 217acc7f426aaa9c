// x^y as 2^(y log2 x). An error of the exponent is one of the result, so that the exponent of a
// long needs 10 bits more than the result: log2 x and y have a head of at most 25 bits each, whose
// product is exact in longs and in the host's doubles, and a tail.
#include <cmath>
#include <vector>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
namespace {

constexpr std::uint64_t root_half_exponent = (exponent_bias - 1) << short_fraction_bits;
constexpr double largest_z = 0.02945;
/// log2(m) = slope (s + s^3 / 3 + ...) with m = (1 + s) / (1 - s) and slope = 2 / log(2). A third
/// of the slope with 23 bits, so that three times that is a short, too, and the rest of the slope.
constexpr double cubic = 0x1.ec709cp-1;
constexpr double slope_head = 3 * cubic;
constexpr double slope_rest = 1.5772854937331359936e-7;
/// The head of s has 16 bits, so that its cube is exact.
constexpr unsigned dropped_of_s = 9;

}  // namespace

Ref Builder::power_of(const Ref& x, const Ref& y, Width width) {
  return width == Width::Short ? short_power(x, y) : long_power(x, y);
}

/// e^(y log x), and zero where the exponent is below -708. The logarithm is a long.
Ref Builder::short_power(const Ref& x, const Ref& y) {
  constexpr double limit = 708;
  const Width width = Width::Short;
  const Ref exponent = product(logarithm(x, Width::Long), y, Width::Long);
  const Condition tiny = flag_of(Op::Fadd, exponent, immediate(limit), MaskFlag::Negative);
  const Ref low = emit(Op::Fmax, Width::Long, exponent, immediate(-limit));
  const Ref made = exponential_of(emit(Op::Fmin, Width::Long, low, immediate(709.7)), {}, width);
  const Ref zero =
      append_op({.op = Op::Fmul, .width = width, .in = {made, immediate(0)}, .where = where_});
  return where(tiny, zero, copy_of(made, width), width);
}

/// A number as a short and the rest, exactly.
Builder::Split Builder::split(const Ref& x) {
  if (width_of(x) == Width::Short) return {leading_bits(x, 0), {}};
  const Ref head = head_of(x);
  return {head, emit(Op::Fsub, Width::Long, x, head)};
}

/// s = (m - 1) / (m + 1) for x = 2^n m. With g = (m - 1) / 2, exactly in two parts, it is g / (1 +
/// g); the head q has 16 bits, and the tail is (g - q (1 + g)) / (1 + g), whose terms are exact.
Builder::Split Builder::atanh_argument(const Split& x, const Ref& shifted) {
  const Width wide = Width::Long;
  const Ref fraction = emit(Op::Iand, Width::Short, shifted, bits(short_fraction));
  const Ref half_m = emit(Op::Iadd, Width::Short, fraction,
                          bits(root_half_exponent - exponent_step + root_half_fraction));
  const Ref head = emit(Op::Fsub, Width::Short, half_m, immediate(0.5));
  Ref g = head, tail;
  if (x.tail.kind != Ref::Kind::None) {
    // Times 2^(1-n), which is a number for the largest n, too.
    const Ref field = emit(Op::Iand, Width::Short, shifted, bits(~short_fraction & Short::mask));
    const Ref scale =
        emit(Op::Isub, Width::Short, bits(2 * exponent_bias << short_fraction_bits), field);
    tail = product(product(x.tail, scale, wide), immediate(0.25), wide);
    g = emit(Op::Fadd, wide, head, tail);
  }
  const Ref below = emit(Op::Fadd, wide, g, immediate(1));
  const Ref y = short_inverse(below);
  const Ref q = leading_bits(product(g, y, Width::Short), dropped_of_s);
  Ref rest = emit(Op::Fsub, wide, emit(Op::Fsub, wide, g, q), product(head, q, wide));
  if (tail.kind != Ref::Kind::None) rest = emit(Op::Fsub, wide, rest, product(tail, q, wide));
  const Ref first = product(rest, y, wide);
  const Ref e = emit(Op::Fsub, Width::Short, immediate(1), product(below, y, wide));
  return {q, emit(Op::Fadd, wide, first, product(first, e, wide))};
}

/// log2 x = n + slope_head (s + s^3 / 3) + slope_rest s + s^3 (W(s^2) - cubic), with a relative
/// error of 2^-57. With s = q + t the terms of q are exact.
Builder::Split Builder::binary_logarithm(const Split& x, const Parts& parts) {
  const Width wide = Width::Long;
  const auto [q, t] = atanh_argument(x, parts.shifted);
  const Ref s = emit(Op::Fadd, wide, q, t);
  const Ref qq = product(q, q, wide);
  // t (1 + q^2 + q t + t^2 / 3): s + s^3 / 3 without q + q^3 / 3.
  const Ref third = product(t, immediate(nearest_short(1.0 / 3)), wide);
  const Ref mean = emit(Op::Fadd, Width::Short, third, q);
  const Ref v = emit(Op::Fadd, wide, qq, product(t, mean, wide));
  const Ref all_t = emit(Op::Fadd, wide, t, product(t, v, wide));
  const Ref main = product(q, immediate(slope_head), wide);
  const Ref of_s = product(s, immediate(slope_rest), wide);
  const Ref of_t = product(all_t, immediate(slope_head), wide);
  const Ref of_cube = product(product(qq, q, wide), immediate(cubic), wide);
  const Ref z = product(s, s, wide);
  std::vector<double> c(std::begin(coefficients::log2_long), std::end(coefficients::log2_long));
  c[0] -= cubic;
  const Ref w = horner(z, largest_z, c, Width::Long, wide, short_part_of_long);
  const Ref of_rest = product(s, product(z, w, wide), wide);
  // From the smallest to the largest.
  const Ref small = emit(Op::Fadd, wide, emit(Op::Fadd, wide, of_s, of_rest), of_t);
  const Ref tail = emit(Op::Fadd, wide, small, of_cube);
  const Ref sum = emit(Op::Fadd, wide, main, tail);
  const Ref head = leading_bits(emit(Op::Fadd, Width::Short, parts.n, sum), 0);
  const Ref without_n = emit(Op::Fsub, wide, parts.n, head);
  return {head, emit(Op::Fadd, wide, emit(Op::Fadd, wide, without_n, main), tail)};
}

/// 2^(head + tail), for a head of 50 bits, which is limited to what gives zero or infinity.
Ref Builder::two_to(const Ref& head, const Ref& tail) {
  const Width wide = Width::Long;
  const Ref low = emit(Op::Fmax, wide, head, immediate(-static_cast<double>(exponent_bias)));
  const Ref limited = emit(Op::Fmin, wide, low, immediate(exponent_bias + 1));
  const Ref small =
      emit(Op::Fmin, wide, emit(Op::Fmax, wide, tail, immediate(-0.5)), immediate(0.5));
  const Ref shifted = emit(Op::Fadd, Width::Short, limited, immediate(short_ones));
  const Ref n = emit(Op::Fsub, Width::Short, shifted, immediate(short_ones));
  const Ref f = emit(Op::Fadd, wide, emit(Op::Fsub, wide, limited, n), small);
  const Ref field = emit(Op::Ishl, Width::Short, shifted, bits(short_fraction_bits));
  const Ref power = emit(Op::Iadd, Width::Short, field, bits(bits_of_one));
  // 2^(first + second) = 2^first (1 + log(2) second): products with a short take one multiplier
  // pass.
  const Ref first = head_of(f);
  const Ref second = emit(Op::Fsub, Width::Short, f, first);
  const Ref scaled = product(second, immediate(nearest_short(M_LN2)), Width::Short);
  const Ref p = horner(first, 0.5, coefficients::exp2_long, Width::Long, wide);
  return product(emit(Op::Fadd, wide, p, product(p, scaled, wide)), power, wide);
}

/// x^y in longs, of a finite y. Where x is not a positive number, e^(y log x) is 0, infinite or
/// NaN.
Ref Builder::long_power(const Ref& x, const Ref& y) {
  const Width wide = Width::Long;
  const Split base = split(x), exponent = split(y);
  const Parts parts = parts_of(base.head);
  const auto [head, tail] = binary_logarithm(base, parts);
  const Ref main = product(head, exponent.head, wide);
  Ref rest = product(y, tail, wide);
  if (exponent.tail.kind != Ref::Kind::None)
    rest = emit(Op::Fadd, wide, rest, product(exponent.tail, head, wide));
  const Ref made = two_to(main, rest);
  const Ref special =
      product(special_logarithm(base.head, Width::Short), exponent.head, Width::Short);
  const Ref limit =
      append_op({.op = Op::Fmax, .width = wide, .in = {special, immediate(0)}, .where = where_});
  return where(parts.valid, made, limit, wide);
}

}  // namespace gdr::kc
