// Unpacked floats, and the rounding shared by all formats.
#pragma once

#include <bit>
#include <cstdint>

#include "emulator/numeric/float.hpp"
#include "emulator/numeric/words.hpp"

namespace gdr {

enum class FloatClass : std::uint8_t { Zero, Finite, Infinity, Nan };

/// value = (-1)^negative * significand * 2^(exponent - 60), significand in [2^60, 2^61).
struct Unpacked {
  FloatClass kind;
  bool negative;
  int exponent;
  std::uint64_t significand;
};

/// A floating-point format: its significant bits and the exponents of its normal numbers.
struct FloatFormat {
  int bits;
  int min_exponent;
  int max_exponent;  ///< the bias of the exponent field too
};

constexpr FloatFormat long_format{61, -1022, 1023};
constexpr FloatFormat short_format{25, -1022, 1023};
constexpr FloatFormat single_format{24, -126, 127};

constexpr Unpacked unpack(Long w) noexcept {
  const bool negative = (w.bits >> 71) != 0;
  const int field = static_cast<int>((w.bits >> 60) & 2047);
  const auto fraction = static_cast<std::uint64_t>(w.bits) & ((std::uint64_t{1} << 60) - 1);
  if (field == 0) return {FloatClass::Zero, negative, 0, 0};
  if (field == 2047) {
    return {fraction == 0 ? FloatClass::Infinity : FloatClass::Nan, negative, 0, 0};
  }
  return {FloatClass::Finite, negative, field - long_format.max_exponent,
          fraction | (std::uint64_t{1} << 60)};
}

constexpr int leading_zeros(u128 x) noexcept {
  const auto upper = static_cast<std::uint64_t>(x >> 64);
  return upper != 0 ? std::countl_zero(upper)
                    : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
}

/// Shift right; the bits shifted out are combined into the last bit, as a sticky bit for rounding.
constexpr u128 shift_right_jam(u128 x, int count) noexcept {
  if (count == 0) return x;
  if (count > 127) return x != 0;
  return (x >> count) | ((x << (128 - count)) != 0);
}

/// x / 2^count to the nearest integer, halves to the even one. 0 <= count <= 127.
constexpr u128 round_shift(u128 x, int count) noexcept {
  if (count == 0) return x;
  const u128 half = u128{1} << (count - 1);
  const u128 rest = x & ((half << 1) - 1);
  const u128 kept = x >> count;
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

/// A rounded magnitude: significand in [2^(bits-1), 2^bits), or an overflow, or an underflow.
struct Rounded {
  FloatClass kind;
  int exponent;
  std::uint64_t significand;
};

/// Contract of every operation: exact magnitude `value` * 2^(exponent - 127) (value not zero,
/// sticky in its last bit) to the significant bits of a format, once. A value below the format
/// before rounding underflows to zero; one above it after rounding overflows to infinity.
constexpr Rounded round_once(int exponent, u128 value, FloatFormat format, Flags& flags) noexcept {
  const int shift = leading_zeros(value);
  exponent -= shift;
  if (exponent < format.min_exponent) {
    flags |= flag_underflow;
    return {FloatClass::Zero, 0, 0};
  }
  auto significand = static_cast<std::uint64_t>(round_shift(value << shift, 128 - format.bits));
  if ((significand >> format.bits) != 0) {  // rounded up to the next power of two
    significand >>= 1;
    ++exponent;
  }
  if (exponent > format.max_exponent) {
    flags |= flag_overflow;
    return {FloatClass::Infinity, 0, 0};
  }
  return {FloatClass::Finite, exponent, significand};
}

}  // namespace gdr
