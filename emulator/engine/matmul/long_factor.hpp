// Conversion of a long to the double that the multiplier reads.
#pragma once

#include <cstdint>

namespace gdr {

/// The leading 53 bits: exponent zero gives a zero of the same sign; a NaN stays a NaN, also if its
/// fraction bits are below those of a double. Always inline: it is compiled for several instruction
/// sets.
[[gnu::always_inline]] constexpr std::uint64_t long_factor(std::uint64_t upper,
                                                           std::uint64_t lower) noexcept {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63, quiet = std::uint64_t{1} << 51;
  const std::uint64_t bits = (upper << 28) | (lower >> 8), e = bits >> 52 & 2047;
  const std::uint64_t odd = bits | ((lower & 255) != 0 ? quiet : 0);
  return e == 0 ? bits & sign : e == 2047 ? odd : bits;
}

}  // namespace gdr
