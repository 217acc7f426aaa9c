// Constants of the machine's number format that the mathematical functions use.
#pragma once

#include <cstdint>

namespace gdr::kc {

/// All bits of a short but its sign; its fraction; the exponent field of 1 and one step of it.
constexpr std::uint64_t short_magnitude = 0x7ffffffff;
constexpr std::uint64_t short_fraction = 0xffffff;
constexpr unsigned short_fraction_bits = 24;
constexpr std::uint64_t exponent_step = std::uint64_t{1} << short_fraction_bits;
constexpr std::uint64_t exponent_bias = 1023;
constexpr std::uint64_t bits_of_one = exponent_bias << short_fraction_bits;

/// The fraction of 2^-1/2 as a short. Subtracting it from the bits of x makes the exponent field
/// n + 1022, where x = 2^n m with m from 2^-1/2 to 2^1/2.
constexpr std::uint64_t root_half_fraction = 0x6a09e6;

/// A number whose last place, as a short, is one: adding it to a number below 2^23 rounds that to
/// an integer, which is then in the last bits.
constexpr double short_ones = 1.5 * 16777216.0;

/// Parts of a long below this may be shorts: the 25 bits of a short reach 2^-54.
constexpr double short_part_of_long = 0x1p-29;

/// The short that is nearest to a number.
double nearest_short(double number);

}  // namespace gdr::kc
