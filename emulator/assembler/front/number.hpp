// Numbers of the source text: binary floating-point numbers that can be rounded correctly, values.
#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/numeric/words.hpp"

namespace gdr::assembly {

/// significand x 2^exponent; the top bit of the significand is set unless the number is zero. Bits
/// beyond 64 are combined into the last bit ("round to odd"), so that rounding to at most 62 bits
/// equals rounding the exact number.
struct Binary {
  bool negative = false;
  std::uint64_t significand = 0;
  std::int32_t exponent = 0;
};

/// A decimal literal: digits with at most one point, times 10^exponent10.
Binary binary_from_decimal(std::string_view digits, std::int64_t exponent10);
Binary binary_from_integer(i128 value) noexcept;
/// `value` must be finite.
Binary binary_from_host(long double value) noexcept;
/// Nearest long double; infinite if out of range.
long double host_from_binary(const Binary& number) noexcept;

enum class RoundError : std::uint8_t { None, TooLarge, TooSmall };
struct Rounded {
  u128 bits = 0;  ///< sign, exponent and fraction, packed
  bool exact = true;
  RoundError error = RoundError::None;
};
/// Round to nearest even with sign, `exponent_bits` and `fraction_bits`. Numbers below the smallest
/// normal one are TooSmall.
Rounded round_binary(const Binary& number, unsigned fraction_bits, unsigned exponent_bits) noexcept;
/// The same for a machine word.
Rounded round_binary(const Binary& number, Width width) noexcept;

/// Value of a literal, constant or expression.
struct Value {
  bool real = false;
  i128 integer = 0;  ///< value if not real
  Binary binary;     ///< value if real
  /// Form of a literal, which operands depend on; lost by arithmetic.
  std::uint8_t hex_digits = 0;  ///< number of digits after 0x
  char suffix = 0;              ///< 's' or 'l'

  Binary as_binary() const noexcept { return real ? binary : binary_from_integer(integer); }
  long double as_host() const noexcept {
    return real ? host_from_binary(binary) : static_cast<long double>(integer);
  }
};

inline Value integer_value(i128 x) noexcept {
  Value v;
  v.integer = x;
  return v;
}
inline Value real_value(long double x) noexcept {
  Value v;
  v.real = true;
  v.binary = binary_from_host(x);
  return v;
}

}  // namespace gdr::assembly
