// Floating-point arithmetic of the machine, exact to the last bit: the oracle of every engine.
//
// Every operation takes the exact result; below 2^-1022 it becomes a zero of its sign, otherwise it
// is rounded once, to nearest even, into the destination's format. There are no subnormals, and
// every NaN result is the canonical one.
#pragma once

#include <bit>
#include <cstdint>

#include "emulator/numeric/words.hpp"

namespace gdr {

/// Sticky exception flags, as bits that can be joined.
enum Flags : std::uint8_t { no_flags = 0, flag_invalid = 1, flag_overflow = 2, flag_underflow = 4 };

constexpr Flags operator|(Flags a, Flags b) noexcept {
  return static_cast<Flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr Flags& operator|=(Flags& a, Flags b) noexcept { return a = a | b; }

/// An operand or a result of the adder or the multiplier: a long, or a short widened to a long.
/// Results of short format are returned widened too, so `upper_half` is the short itself.
using FloatWord = Long;

constexpr Long canonical_nan{(u128{2047} << 60) | (u128{1} << 59)};

/// a + b and a - b. inf - inf is NaN (invalid); x - x is +0; (-0) + (-0) is -0.
FloatWord fadd(Long a, Long b, Width out, Flags& flags) noexcept;
FloatWord fsub(Long a, Long b, Width out, Flags& flags) noexcept;

/// One pass of the multiplier: the leading 50 significant bits of a by the leading 25 of b.
FloatWord fmul(Long a, Long b, Width out, Flags& flags) noexcept;

/// Two passes of the multiplier: the leading 50 significant bits of both.
FloatWord dmul(Long a, Long b, Width out, Flags& flags) noexcept;

/// The larger and the smaller; NaN if either is NaN; -0 < +0; rounded like the rest.
FloatWord fmax(Long a, Long b, Width out, Flags& flags) noexcept;
FloatWord fmin(Long a, Long b, Width out, Flags& flags) noexcept;

/// The value of a in another format.
FloatWord fcvt(Long a, Width out, Flags& flags) noexcept;

/// Properties of a result that masks can be set from.
constexpr bool is_nan(Long w) noexcept {
  return ((w.bits >> 60) & 2047) == 2047 && (w.bits & ((u128{1} << 60) - 1)) != 0;
}
constexpr bool is_zero(Long w) noexcept { return ((w.bits >> 60) & 2047) == 0; }
/// Below zero: not -0, not NaN.
constexpr bool is_negative(Long w) noexcept {
  return (w.bits >> 71) != 0 && !is_zero(w) && !is_nan(w);
}

// An IEEE double has the same exponent field as a long, so its 64 bits are the upper 64 of a long.

/// IEEE double to long: exact, except that a subnormal is a zero of its sign (and sets no flag).
constexpr Long long_from_double(double value) noexcept {
  const Long word{u128{std::bit_cast<std::uint64_t>(value)} << 8};
  if (is_nan(word)) return canonical_nan;
  return is_zero(word) ? Long{word.bits & (u128{1} << 71)} : word;
}

/// IEEE double to short, widened: rounded once.
inline FloatWord short_from_double(double value, Flags& flags) noexcept {
  return fcvt(long_from_double(value), Width::Short, flags);
}

/// Long (or widened short) to IEEE double: rounded once, with the machine's rules for zero and NaN.
constexpr double double_from_long(Long word, Flags& flags) noexcept {
  auto bits = static_cast<std::uint64_t>(word.bits >> 8);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
  if (is_nan(word)) return std::bit_cast<double>(infinity | (std::uint64_t{1} << 51));
  if (is_zero(word)) return std::bit_cast<double>(bits & sign);
  // A carry out of the fraction goes into the exponent, and out of the largest number to infinity.
  const auto rest = static_cast<unsigned>(word.bits & 255);
  if (rest > 128 || (rest == 128 && (bits & 1) != 0)) {
    ++bits;
    if ((bits & ~sign) == infinity) flags |= flag_overflow;
  }
  return std::bit_cast<double>(bits);
}

}  // namespace gdr
