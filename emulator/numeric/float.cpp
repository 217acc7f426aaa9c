// Unpack, special cases, align, operate, round and pack.
#include "emulator/numeric/float.hpp"

#include "emulator/numeric/unpacked.hpp"

namespace gdr {
namespace {

constexpr Long pack(bool negative, unsigned exponent_field, std::uint64_t fraction) noexcept {
  return {(u128{negative} << 71) | (u128{exponent_field} << 60) | fraction};
}
constexpr Long zero(bool negative) noexcept { return pack(negative, 0, 0); }
constexpr Long infinity(bool negative) noexcept { return pack(negative, 2047, 0); }

Long invalid(Flags& flags) noexcept {
  flags |= flag_invalid;
  return canonical_nan;
}

FloatWord round_pack(bool negative, int exponent, u128 value, Width out, Flags& flags) noexcept {
  const FloatFormat format = out == Width::Long ? long_format : short_format;
  const Rounded r = round_once(exponent, value, format, flags);
  if (r.kind == FloatClass::Zero) return zero(negative);
  if (r.kind == FloatClass::Infinity) return infinity(negative);
  const std::uint64_t fraction =
      (r.significand << (61 - format.bits)) & ((std::uint64_t{1} << 60) - 1);
  return pack(negative, static_cast<unsigned>(r.exponent + format.max_exponent), fraction);
}

FloatWord round_pack(const Unpacked& x, Width out, Flags& flags) noexcept {
  return round_pack(x.negative, x.exponent, u128{x.significand} << 67, out, flags);
}

/// Sum of two finite magnitudes with signs. The larger one keeps 67 bits below its last; what the
/// alignment of the smaller one loses beyond them is jammed, which rounding cannot tell from exact.
FloatWord add_finite(Unpacked a, Unpacked b, Width out, Flags& flags) noexcept {
  const bool a_smaller =
      a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand);
  const Unpacked& big = a_smaller ? b : a;
  const Unpacked& small = a_smaller ? a : b;
  // Bit 126 is the leading one of the larger magnitude, so that a carry has room.
  const u128 upper = u128{big.significand} << 66;
  const u128 lower = shift_right_jam(u128{small.significand} << 66, big.exponent - small.exponent);
  const u128 sum = big.negative == small.negative ? upper + lower : upper - lower;
  if (sum == 0) return zero(false);
  return round_pack(big.negative, big.exponent + 1, sum, out, flags);
}

FloatWord add(Unpacked a, Unpacked b, Width out, Flags& flags) noexcept {
  if (a.kind == FloatClass::Nan || b.kind == FloatClass::Nan) return canonical_nan;
  if (a.kind == FloatClass::Infinity && b.kind == FloatClass::Infinity) {
    return a.negative == b.negative ? infinity(a.negative) : invalid(flags);
  }
  if (a.kind == FloatClass::Infinity) return infinity(a.negative);
  if (b.kind == FloatClass::Infinity) return infinity(b.negative);
  if (a.kind == FloatClass::Zero && b.kind == FloatClass::Zero)
    return zero(a.negative && b.negative);
  if (a.kind == FloatClass::Zero) return round_pack(b, out, flags);
  if (b.kind == FloatClass::Zero) return round_pack(a, out, flags);
  return add_finite(a, b, out, flags);
}

/// The leading bits of a 61-bit significand; the rest is cut, not rounded.
constexpr std::uint64_t leading(std::uint64_t significand, int bits) noexcept {
  return significand & ~((std::uint64_t{1} << (61 - bits)) - 1);
}

FloatWord multiply(Long a_word, int a_bits, Long b_word, int b_bits, Width out,
                   Flags& flags) noexcept {
  const Unpacked a = unpack(a_word);
  const Unpacked b = unpack(b_word);
  if (a.kind == FloatClass::Nan || b.kind == FloatClass::Nan) return canonical_nan;
  const bool negative = a.negative != b.negative;
  if (a.kind == FloatClass::Infinity || b.kind == FloatClass::Infinity) {
    return a.kind == FloatClass::Zero || b.kind == FloatClass::Zero ? invalid(flags)
                                                                    : infinity(negative);
  }
  if (a.kind == FloatClass::Zero || b.kind == FloatClass::Zero) return zero(negative);
  // The product of two 61-bit significands has its point after bit 120; it is exact in 122 bits.
  const u128 product = u128{leading(a.significand, a_bits)} * leading(b.significand, b_bits);
  return round_pack(negative, a.exponent + b.exponent + 7, product, out, flags);
}

/// Order of the values that are no NaN, with -0 < +0: signs and magnitudes of the bits decide.
bool less(Long a, Long b) noexcept {
  const bool a_negative = (a.bits >> 71) != 0;
  const bool b_negative = (b.bits >> 71) != 0;
  if (a_negative != b_negative) return a_negative;
  const u128 a_magnitude = is_zero(a) ? 0 : a.bits & (Long::mask >> 1);
  const u128 b_magnitude = is_zero(b) ? 0 : b.bits & (Long::mask >> 1);
  return a_negative ? b_magnitude < a_magnitude : a_magnitude < b_magnitude;
}

}  // namespace

FloatWord fadd(Long a, Long b, Width out, Flags& flags) noexcept {
  return add(unpack(a), unpack(b), out, flags);
}

FloatWord fsub(Long a, Long b, Width out, Flags& flags) noexcept {
  Unpacked negated = unpack(b);
  negated.negative = !negated.negative;
  return add(unpack(a), negated, out, flags);
}

FloatWord fmul(Long a, Long b, Width out, Flags& flags) noexcept {
  return multiply(a, 50, b, 25, out, flags);
}

FloatWord dmul(Long a, Long b, Width out, Flags& flags) noexcept {
  return multiply(a, 50, b, 50, out, flags);
}

FloatWord fmax(Long a, Long b, Width out, Flags& flags) noexcept {
  if (is_nan(a) || is_nan(b)) return canonical_nan;
  return fcvt(less(a, b) ? b : a, out, flags);
}

FloatWord fmin(Long a, Long b, Width out, Flags& flags) noexcept {
  if (is_nan(a) || is_nan(b)) return canonical_nan;
  return fcvt(less(b, a) ? b : a, out, flags);
}

FloatWord fcvt(Long a, Width out, Flags& flags) noexcept {
  const Unpacked x = unpack(a);
  if (x.kind == FloatClass::Nan) return canonical_nan;
  if (x.kind == FloatClass::Infinity) return infinity(x.negative);
  if (x.kind == FloatClass::Zero) return zero(x.negative);
  return round_pack(x, out, flags);
}

}  // namespace gdr
