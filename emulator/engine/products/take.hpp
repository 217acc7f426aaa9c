// Longs as they stand in the state, as doubles.
#pragma once

#include "emulator/engine/products/kernels.hpp"

namespace gdr {

/// ProductKernels::take; `Cut`: to the 50 bits that the multiplier sees.
template <bool Cut>
void take_longs(const std::uint64_t* upper, const std::uint64_t* lower, double* to,
                ExponentRange& range) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63, quiet = std::uint64_t{1} << 51;
  std::uint64_t least = static_cast<std::uint64_t>(range.least);
  std::uint64_t most = static_cast<std::uint64_t>(range.most);
  std::uint64_t words[panel_lanes];
  for (std::size_t i = 0; i < panel_lanes; ++i) {
    const std::uint64_t bits = (upper[i] << 28) | (lower[i] >> 8);
    const std::uint64_t e = bits >> 52 & 2047;
    // A NaN may have its bits behind those of a double.
    const std::uint64_t odd = bits | ((lower[i] & 255) != 0 ? quiet : 0);
    const std::uint64_t number = Cut ? bits & ~std::uint64_t{7} : bits;
    words[i] = e == 0 ? bits & sign : e == 2047 ? odd : number;
    const std::uint64_t low = e == 0 ? 2047 : e;
    least = low < least ? low : least;
    most = e > most ? e : most;
  }
  __builtin_memcpy(to, words, sizeof words);
  range = {static_cast<std::int32_t>(least), static_cast<std::int32_t>(most)};
}

}  // namespace gdr
