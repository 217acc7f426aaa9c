// A long as it stands in the state, as the double that a product sees.
#pragma once

#include <cstdint>

namespace gdr {

/// Its leading 53 bits: a zero of its sign for what has the exponent zero; a NaN stays one, also if
/// its bits are behind those of a double. Always inline: it is compiled for several instruction
/// sets.
[[gnu::always_inline]] constexpr std::uint64_t long_factor(std::uint64_t upper,
                                                           std::uint64_t lower) noexcept {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63, quiet = std::uint64_t{1} << 51;
  const std::uint64_t bits = (upper << 28) | (lower >> 8), e = bits >> 52 & 2047;
  const std::uint64_t odd = bits | ((lower & 255) != 0 ? quiet : 0);
  return e == 0 ? bits & sign : e == 2047 ? odd : bits;
}

}  // namespace gdr
