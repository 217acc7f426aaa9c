// Longs as they stand in the state, as doubles.
#pragma once

#include "emulator/engine/products/kernels.hpp"

namespace gdr {

/// ProductKernels::take; `Cut`: to the 50 bits that the multiplier sees, with the range of
/// exponents.
template <bool Cut>
void take_longs(const LongRow& row) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63, quiet = std::uint64_t{1} << 51;
  for (std::size_t panel = 0; panel < row.panels; ++panel) {
    const std::uint64_t* const upper = row.upper + panel * panel_lanes;
    const std::uint64_t* const lower = row.lower + panel * panel_lanes;
    std::uint64_t words[panel_lanes], low[panel_lanes], high[panel_lanes];
    for (std::size_t i = 0; i < panel_lanes; ++i) {
      const std::uint64_t bits = (upper[i] << 28) | (lower[i] >> 8);
      const std::uint64_t e = bits >> 52 & 2047;
      // A NaN may have its bits behind those of a double.
      const std::uint64_t odd = bits | ((lower[i] & 255) != 0 ? quiet : 0);
      const std::uint64_t number = Cut ? bits & ~std::uint64_t{7} : bits;
      words[i] = e == 0 ? bits & sign : e == 2047 ? odd : number;
      low[i] = e == 0 ? 2047 : e;
      high[i] = e;
    }
    __builtin_memcpy(row.to + panel * row.step, words, sizeof words);
    if (!Cut) continue;
    ExponentRange& range = row.ranges[panel * row.range_step];
    std::int32_t least = last_exponent;
    for (std::size_t i = 0; i < panel_lanes; ++i) {
      const auto l = static_cast<std::int32_t>(low[i]), h = static_cast<std::int32_t>(high[i]);
      least = l < least ? l : least;
      range.most = h > range.most ? h : range.most;
    }
    range.least = least < range.least ? least : range.least;
    row.least[panel * row.least_step] = static_cast<std::int16_t>(least);
  }
}

}  // namespace gdr
