// Sine, cosine and tangent by Cody and Waite's reduction (Software Manual for the Elementary
// Functions, 1980): x - n pi with pi in two parts, of which the products with n are exact.
#include <limits>

#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
namespace {

/// pi, rounded up to 29 bits, and the rest, which is negative: an infinite n gives inf - inf, a
/// NaN. n has 24 bits, so that doubles hold the first product. The rest has the 50 bits that the
/// multiplier uses.
constexpr double pi_high = 0x1.921fb55000000p+1;
constexpr double pi_low = -0x1.77a5cf72cece8p-28;
constexpr double inverse_pi = 0.318309886183790671537767526745;
/// 2^23 times this number is infinite.
constexpr double range_factor = 0x1p1001;

/// x times a constant, to the accuracy that decides which multiple of the period is nearest to x.
Ref turns_of(Builder& b, const Ref& x, double constant) {
  return b.product(x, b.immediate(constant), Width::Long);
}

/// x - whole * period * pi; NaN if `whole` is 2^23 or larger.
Ref reduced(Builder& b, const Ref& x, const Ref& whole, double period) {
  const Ref large = b.product(whole, b.immediate(range_factor), Width::Short);
  const Ref n = b.product(large, b.immediate(1 / range_factor), Width::Short);
  const Ref first = b.product(b.immediate(pi_high * period), n, Width::Long);
  const Ref rest = b.product(b.immediate(pi_low * period), n, Width::Long);
  return b.emit(Op::Fsub, Width::Long, b.emit(Op::Fsub, Width::Long, x, first), rest);
}

/// (-1)^n sin r for an r of at most pi / 2; n is the last bit of `shifted`.
Ref sine_of_rest(Builder& b, const Ref& shifted, const Ref& r, Width width) {
  const Ref odd = b.emit(Op::Ishl, Width::Short, shifted, b.bits(35));
  const Ref sign = b.emit(Op::Ior, Width::Short, odd, b.bits(bits_of_one));
  const Ref s = b.product(r, sign, Width::Long);
  const Ref z = b.product(r, r, Width::Long);
  constexpr double largest = 2.48;
  const Ref p = width == Width::Short ? b.horner(z, largest, coefficients::sin_short, width, width)
                                      : b.horner(z, largest, coefficients::sin_long, width, width);
  const Ref zp = b.product(z, p, Width::Long);
  return b.emit(Op::Fadd, width, s, b.product(s, zp, Width::Long));
}

/// sin x = (-1)^n sin(x - n pi).
Ref sine(Builder& b, const Ref& x, Width width) {
  const Ref turns = turns_of(b, x, inverse_pi);
  const Ref shifted = b.emit(Op::Fadd, Width::Short, turns, b.immediate(short_ones));
  const Ref whole = b.emit(Op::Fsub, Width::Short, shifted, b.immediate(short_ones));
  return sine_of_rest(b, shifted, reduced(b, x, whole, 1), width);
}

/// cos x = (-1)^n sin(x - (n - 1/2) pi).
Ref cosine(Builder& b, const Ref& x, Width width) {
  const Ref turns = turns_of(b, x, inverse_pi);
  const Ref shifted = b.emit(Op::Fadd, Width::Short, turns, b.immediate(short_ones + 0.5));
  const Ref whole = b.emit(Op::Fsub, Width::Short, shifted, b.immediate(short_ones + 0.5));
  return sine_of_rest(b, shifted, reduced(b, x, whole, 1), width);
}

/// With x = n pi/2 + r: sin r / cos r for an even n, -cos r / sin r for an odd one.
Ref tangent(Builder& b, const Ref& x, Width width) {
  const Ref shifted =
      b.emit(Op::Fadd, Width::Short, turns_of(b, x, 2 * inverse_pi), b.immediate(short_ones));
  const Ref whole = b.emit(Op::Fsub, Width::Short, shifted, b.immediate(short_ones));
  const Ref r = reduced(b, x, whole, 0.5);
  const Ref z = b.product(r, r, Width::Long);
  constexpr double largest = 0.617;
  const bool narrow = width == Width::Short;
  const Ref p = narrow ? b.horner(z, largest, coefficients::tan_sin_short, width, width)
                       : b.horner(z, largest, coefficients::tan_sin_long, width, width);
  const Ref s = b.emit(Op::Fadd, Width::Long, r, b.product(r, b.product(z, p, width), Width::Long));
  const Ref c = narrow ? b.horner(z, largest, coefficients::tan_cos_short, width, Width::Long)
                       : b.horner(z, largest, coefficients::tan_cos_long, width, Width::Long);
  const Condition odd = b.flag_of(Op::Ishl, shifted, b.bits(35), MaskFlag::Negative);
  const Ref above = b.where(odd, b.copy_of(c, Width::Long), b.copy_of(s, Width::Long), Width::Long);
  const Ref minus = b.emit(Op::Fsub, Width::Long, b.immediate(0), s);
  const Ref below = b.where(odd, minus, b.copy_of(c, Width::Long), Width::Long);
  return b.ratio(above, below, width);
}

Slope slope_of_sine(const FunctionAt& at) { return {at.apply(Fn::Cos, at.x)}; }
Slope slope_of_cosine(const FunctionAt& at) { return {at.negative(at.apply(Fn::Sin, at.x))}; }
Slope slope_of_tangent(const FunctionAt& at) {
  return {at.plus(at.number(1), at.times(at.f, at.f))};
}

}  // namespace

extern constexpr Function sin{
    .name = "sin",
    .arguments = "x",
    .meaning = "sine of an angle in radians",
    .fn = Fn::Sin,
    .value = [](auto x, auto, int) { return std::sin(x); },
    .lower = odd<sine>,
    .slopes = {slope_of_sine},
    .accuracy = {R"(\|x\| < 2.6e7)", "1e-14, absolute", "NaN from 2.7e7 on"},
    .timed = {"sin(a)"},
};

extern constexpr Function cos{
    .name = "cos",
    .arguments = "x",
    .meaning = "cosine of an angle in radians",
    .fn = Fn::Cos,
    .value = [](auto x, auto, int) { return std::cos(x); },
    .lower = even<cosine>,
    .slopes = {slope_of_cosine},
    .accuracy = sin.accuracy,
    .timed = {"cos(a)"},
};

extern constexpr Function tan{
    .name = "tan",
    .arguments = "x",
    .meaning = "tangent of an angle in radians",
    .fn = Fn::Tan,
    .value = [](auto x, auto, int) { return std::tan(x); },
    .lower = odd<tangent>,
    .slopes = {slope_of_tangent},
    .accuracy = {R"(\|x\| < 1.3e7)",
                 R"(1e-14, absolute where \|tan\| < 1; 1e-17 \|tan\| where that is more)",
                 "NaN from 1.35e7 on"},
    .timed = {"tan(a)"},
};

}  // namespace gdr::kc::functions
