// Numbers of the source text as binary floats that can be rounded exactly once.
#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/numeric/words.hpp"

namespace gdr::assembly {

/// significand x 2^exponent, with the top bit of the significand set unless the number is zero.
/// What does not fit into 64 bits sets the last bit ("round to odd"), so that rounding it again, to
/// anything up to 62 bits, gives what rounding the exact number would.
struct Binary {
  bool negative = false;
  std::uint64_t significand = 0;
  std::int32_t exponent = 0;
};

/// A decimal literal: digits with at most one point among them, times 10^exponent10.
Binary binary_from_decimal(std::string_view digits, std::int64_t exponent10);
Binary binary_from_integer(i128 value) noexcept;
/// `value` is finite.
Binary binary_from_host(long double value) noexcept;
/// Nearest long double; infinite where it is out of range.
long double host_from_binary(const Binary& number) noexcept;

enum class RoundError : std::uint8_t { None, TooLarge, TooSmall };
struct Rounded {
  u128 bits = 0;  ///< sign, exponent and fraction, packed
  bool exact = true;
  RoundError error = RoundError::None;
};
/// Round to nearest even into sign, `exponent_bits` and `fraction_bits`; too small is what lies
/// below the smallest normal number.
Rounded round_binary(const Binary& number, unsigned fraction_bits, unsigned exponent_bits) noexcept;
/// The same for a machine word of a width.
Rounded round_binary(const Binary& number, Width width) noexcept;

}  // namespace gdr::assembly
