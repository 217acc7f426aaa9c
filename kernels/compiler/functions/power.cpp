// x^y as 2^(y log2 x). An error of the exponent is one of the result, so that the exponent of a
// long needs 10 bits more than the result: log2 x and y have a head of at most 25 bits each, whose
// product is exact in longs and in the host's doubles, and a tail.
#include <vector>

#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
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

/// e^(y log x), and zero where the exponent is below -708. The logarithm is a long.
Ref short_power(Builder& b, const Ref& x, const Ref& y) {
  constexpr double limit = 708;
  const Width width = Width::Short;
  const Ref exponent = b.product(b.logarithm(x, Width::Long), y, Width::Long);
  const Condition tiny = b.flag_of(Op::Fadd, exponent, b.immediate(limit), MaskFlag::Negative);
  const Ref low = b.emit(Op::Fmax, Width::Long, exponent, b.immediate(-limit));
  const Ref made =
      b.exponential_of(b.emit(Op::Fmin, Width::Long, low, b.immediate(709.7)), {}, width);
  const Ref zero = b.append_op(
      {.op = Op::Fmul, .width = width, .in = {made, b.immediate(0)}, .where = b.place()});
  return b.where(tiny, zero, b.copy_of(made, width), width);
}

/// s = (m - 1) / (m + 1) for x = 2^n m. With g = (m - 1) / 2, exactly in two parts, it is g / (1 +
/// g); the head q has 16 bits, and the tail is (g - q (1 + g)) / (1 + g), whose terms are exact.
Split atanh_argument(Builder& b, const Split& x, const Ref& shifted) {
  const Width wide = Width::Long;
  const Ref fraction = b.emit(Op::Iand, Width::Short, shifted, b.bits(short_fraction));
  const Ref half_m = b.emit(Op::Iadd, Width::Short, fraction,
                            b.bits(root_half_exponent - exponent_step + root_half_fraction));
  const Ref head = b.emit(Op::Fsub, Width::Short, half_m, b.immediate(0.5));
  Ref g = head, tail;
  if (x.tail.kind != Ref::Kind::None) {
    // Times 2^(1-n), which is a number for the largest n, too.
    const Ref field =
        b.emit(Op::Iand, Width::Short, shifted, b.bits(~short_fraction & Short::mask));
    const Ref scale =
        b.emit(Op::Isub, Width::Short, b.bits(2 * exponent_bias << short_fraction_bits), field);
    tail = b.product(b.product(x.tail, scale, wide), b.immediate(0.25), wide);
    g = b.emit(Op::Fadd, wide, head, tail);
  }
  const Ref below = b.emit(Op::Fadd, wide, g, b.immediate(1));
  const Ref y = b.short_inverse(below);
  const Ref q = b.leading_bits(b.product(g, y, Width::Short), dropped_of_s);
  Ref rest = b.emit(Op::Fsub, wide, b.emit(Op::Fsub, wide, g, q), b.product(head, q, wide));
  if (tail.kind != Ref::Kind::None) rest = b.emit(Op::Fsub, wide, rest, b.product(tail, q, wide));
  const Ref first = b.product(rest, y, wide);
  const Ref e = b.emit(Op::Fsub, Width::Short, b.immediate(1), b.product(below, y, wide));
  return {q, b.emit(Op::Fadd, wide, first, b.product(first, e, wide))};
}

/// log2 x = n + slope_head (s + s^3 / 3) + slope_rest s + s^3 (W(s^2) - cubic), with a relative
/// error of 2^-57. With s = q + t the terms of q are exact.
Split binary_logarithm(Builder& b, const Split& x, const Builder::Parts& parts) {
  const Width wide = Width::Long;
  const auto [q, t] = atanh_argument(b, x, parts.shifted);
  const Ref s = b.emit(Op::Fadd, wide, q, t);
  const Ref qq = b.product(q, q, wide);
  // t (1 + q^2 + q t + t^2 / 3): s + s^3 / 3 without q + q^3 / 3.
  const Ref third = b.product(t, b.immediate(nearest_short(1.0 / 3)), wide);
  const Ref mean = b.emit(Op::Fadd, Width::Short, third, q);
  const Ref v = b.emit(Op::Fadd, wide, qq, b.product(t, mean, wide));
  const Ref all_t = b.emit(Op::Fadd, wide, t, b.product(t, v, wide));
  const Ref main = b.product(q, b.immediate(slope_head), wide);
  const Ref of_s = b.product(s, b.immediate(slope_rest), wide);
  const Ref of_t = b.product(all_t, b.immediate(slope_head), wide);
  const Ref of_cube = b.product(b.product(qq, q, wide), b.immediate(cubic), wide);
  const Ref z = b.product(s, s, wide);
  std::vector<double> c(std::begin(coefficients::log2_long), std::end(coefficients::log2_long));
  c[0] -= cubic;
  const Ref w = b.horner(z, largest_z, c, Width::Long, wide, short_part_of_long);
  const Ref of_rest = b.product(s, b.product(z, w, wide), wide);
  // From the smallest to the largest.
  const Ref small = b.emit(Op::Fadd, wide, b.emit(Op::Fadd, wide, of_s, of_rest), of_t);
  const Ref tail = b.emit(Op::Fadd, wide, small, of_cube);
  const Ref sum = b.emit(Op::Fadd, wide, main, tail);
  const Ref head = b.leading_bits(b.emit(Op::Fadd, Width::Short, parts.n, sum), 0);
  const Ref without_n = b.emit(Op::Fsub, wide, parts.n, head);
  return {head, b.emit(Op::Fadd, wide, b.emit(Op::Fadd, wide, without_n, main), tail)};
}

/// 2^(head + tail), for a head of 50 bits, which is limited to what gives zero or infinity.
Ref two_to(Builder& b, const Ref& head, const Ref& tail) {
  const Width wide = Width::Long;
  const Ref low = b.emit(Op::Fmax, wide, head, b.immediate(-static_cast<double>(exponent_bias)));
  const Ref limited = b.emit(Op::Fmin, wide, low, b.immediate(exponent_bias + 1));
  const Ref small =
      b.emit(Op::Fmin, wide, b.emit(Op::Fmax, wide, tail, b.immediate(-0.5)), b.immediate(0.5));
  const Ref shifted = b.emit(Op::Fadd, Width::Short, limited, b.immediate(short_ones));
  const Ref n = b.emit(Op::Fsub, Width::Short, shifted, b.immediate(short_ones));
  const Ref f = b.emit(Op::Fadd, wide, b.emit(Op::Fsub, wide, limited, n), small);
  const Ref field = b.emit(Op::Ishl, Width::Short, shifted, b.bits(short_fraction_bits));
  const Ref power = b.emit(Op::Iadd, Width::Short, field, b.bits(bits_of_one));
  // 2^(first + second) = 2^first (1 + log(2) second): products with a short take one multiplier
  // pass.
  const Ref first = b.head_of(f);
  const Ref second = b.emit(Op::Fsub, Width::Short, f, first);
  const Ref scaled = b.product(second, b.immediate(nearest_short(M_LN2)), Width::Short);
  const Ref p = b.horner(first, 0.5, coefficients::exp2_long, Width::Long, wide);
  return b.product(b.emit(Op::Fadd, wide, p, b.product(p, scaled, wide)), power, wide);
}

/// x^y in longs, of a finite y. Where x is not a positive number, e^(y log x) is 0, infinite or
/// NaN.
Ref long_power(Builder& b, const Ref& x, const Ref& y) {
  const Width wide = Width::Long;
  const Split base = b.split(x), exponent = b.split(y);
  const Builder::Parts parts = b.parts_of(base.head);
  const auto [head, tail] = binary_logarithm(b, base, parts);
  const Ref main = b.product(head, exponent.head, wide);
  Ref rest = b.product(y, tail, wide);
  if (exponent.tail.kind != Ref::Kind::None)
    rest = b.emit(Op::Fadd, wide, rest, b.product(exponent.tail, head, wide));
  const Ref made = two_to(b, main, rest);
  const Ref special =
      b.product(b.special_logarithm(base.head, Width::Short), exponent.head, Width::Short);
  const Ref limit = b.append_op(
      {.op = Op::Fmax, .width = wide, .in = {special, b.immediate(0)}, .where = b.place()});
  return b.where(parts.valid, made, limit, wide);
}

Ref power_of(Builder& b, const Ref& x, const Ref& y, Width width) {
  return width == Width::Short ? short_power(b, x, y) : long_power(b, x, y);
}

/// y x^y / x: the power is there already.
Slope slope_by_base(const FunctionAt& at) {
  return {at.over(at.times(at.y, at.f), at.x), at.less(at.number(0), at.x)};
}
Slope slope_by_exponent(const FunctionAt& at) {
  return {at.times(at.f, at.apply(Fn::Log, at.x)), at.less(at.number(0), at.x)};
}

}  // namespace

extern constexpr Function pow{
    .name = "pow",
    .arguments = "x, y",
    .meaning = "x to the power y, also written `x ^ y`",
    .fn = Fn::Pow,
    .value = [](auto x, auto y, int) { return std::pow(x, y); },
    .call = [](const Call& c) { return c.with.power(c.a[0], c.a[1], c.ctx, c.where); },
    .lower = of_two<power_of>,
    .slopes = {slope_by_base, slope_by_exponent},
    .accuracy =
        {"x from 1e-290 to 1.7e308, finite y, results up to 1.2e308", "1e-14",
         "results above 1.3e308: inf, below 2.3e-308 (in shorts 1e-308): 0; 0^y: 0 for y > 0, "
         "inf for y < 0, NaN for y = 0; inf^y: inf for y > 0, 0 for y < 0; negative x: NaN; "
         "infinite y: unspecified"},
    .timed = {"pow(a, b)"},
};

extern constexpr Function powm32{
    .name = "powm32",
    .arguments = "x",
    .meaning = "x^(-3/2), as the cube of `rsqrt(x)`",
    .call =
        [](const Call& c) { return c.with.power(c.a[0], constant_number(-1.5), c.ctx, c.where); },
};

}  // namespace gdr::kc::functions
