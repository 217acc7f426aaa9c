// Sine, cosine and tangent by Cody and Waite's reduction (Software Manual for the Elementary
// Functions, 1980): x - n pi with pi in two parts, of which the products with n are exact.
#include <cmath>
#include <limits>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
namespace {

/// pi, rounded up to 29 bits, and the rest, which is negative: an infinite n gives inf - inf, a
/// NaN. n has 24 bits, so that doubles hold the first product. The rest has the 50 bits that the
/// multiplier uses.
constexpr double pi_high = 0x1.921fb55000000p+1;
constexpr double pi_low = -0x1.77a5cf72cece8p-28;
constexpr double inverse_pi = 0.318309886183790671537767526745;
/// 2^23 times this number is infinite.
constexpr double range_factor = 0x1p1001;

}  // namespace

/// x times a constant, to the accuracy that decides which multiple of the period is nearest to x.
Ref Builder::turns_of(const Ref& x, double constant) {
  return product(x, immediate(constant), Width::Long);
}

/// x - whole * period * pi; NaN if `whole` is 2^23 or larger.
Ref Builder::reduced(const Ref& x, const Ref& whole, double period) {
  const Ref large = product(whole, immediate(range_factor), Width::Short);
  const Ref n = product(large, immediate(1 / range_factor), Width::Short);
  const Ref first = product(immediate(pi_high * period), n, Width::Long);
  const Ref rest = product(immediate(pi_low * period), n, Width::Long);
  return emit(Op::Fsub, Width::Long, emit(Op::Fsub, Width::Long, x, first), rest);
}

/// (-1)^n sin r for an r of at most pi / 2; n is the last bit of `shifted`.
Ref Builder::sine_of_rest(const Ref& shifted, const Ref& r, Width width) {
  const Ref odd = emit(Op::Ishl, Width::Short, shifted, bits(35));
  const Ref sign = emit(Op::Ior, Width::Short, odd, bits(bits_of_one));
  const Ref s = product(r, sign, Width::Long);
  const Ref z = product(r, r, Width::Long);
  constexpr double largest = 2.48;
  const Ref p = width == Width::Short ? horner(z, largest, coefficients::sin_short, width, width)
                                      : horner(z, largest, coefficients::sin_long, width, width);
  const Ref zp = product(z, p, Width::Long);
  return emit(Op::Fadd, width, s, product(s, zp, Width::Long));
}

/// sin x = (-1)^n sin(x - n pi).
Ref Builder::sine(const Ref& x, Width width) {
  const Ref turns = turns_of(x, inverse_pi);
  const Ref shifted = emit(Op::Fadd, Width::Short, turns, immediate(short_ones));
  const Ref whole = emit(Op::Fsub, Width::Short, shifted, immediate(short_ones));
  return sine_of_rest(shifted, reduced(x, whole, 1), width);
}

/// cos x = (-1)^n sin(x - (n - 1/2) pi).
Ref Builder::cosine(const Ref& x, Width width) {
  const Ref turns = turns_of(x, inverse_pi);
  const Ref shifted = emit(Op::Fadd, Width::Short, turns, immediate(short_ones + 0.5));
  const Ref whole = emit(Op::Fsub, Width::Short, shifted, immediate(short_ones + 0.5));
  return sine_of_rest(shifted, reduced(x, whole, 1), width);
}

/// With x = n pi/2 + r: sin r / cos r for an even n, -cos r / sin r for an odd one.
Ref Builder::tangent(const Ref& x, Width width) {
  const Ref shifted =
      emit(Op::Fadd, Width::Short, turns_of(x, 2 * inverse_pi), immediate(short_ones));
  const Ref whole = emit(Op::Fsub, Width::Short, shifted, immediate(short_ones));
  const Ref r = reduced(x, whole, 0.5);
  const Ref z = product(r, r, Width::Long);
  constexpr double largest = 0.617;
  const bool narrow = width == Width::Short;
  const Ref p = narrow ? horner(z, largest, coefficients::tan_sin_short, width, width)
                       : horner(z, largest, coefficients::tan_sin_long, width, width);
  const Ref s = emit(Op::Fadd, Width::Long, r, product(r, product(z, p, width), Width::Long));
  const Ref c = narrow ? horner(z, largest, coefficients::tan_cos_short, width, Width::Long)
                       : horner(z, largest, coefficients::tan_cos_long, width, Width::Long);
  const Condition odd = flag_of(Op::Ishl, shifted, bits(35), MaskFlag::Negative);
  const Ref above = where(odd, copy_of(c, Width::Long), copy_of(s, Width::Long), Width::Long);
  const Ref minus = emit(Op::Fsub, Width::Long, immediate(0), s);
  const Ref below = where(odd, minus, copy_of(c, Width::Long), Width::Long);
  return ratio(above, below, width);
}

}  // namespace gdr::kc
