// Conversion of longs of the state to doubles truncated to the multiplier's bits.
#pragma once

#include "emulator/engine/matmul/kernels.hpp"
#include "emulator/engine/matmul/long_factor.hpp"

// Compiled once for each instruction set, hence the unnamed namespace.
namespace gdr {
namespace {

/// MatmulKernels::take: the leading 50 bits, with the range of exponents.
void gather_longs(const LongRow& row) {
  for (std::size_t panel = 0; panel < row.panels; ++panel) {
    const std::uint64_t* const upper = row.upper + panel * panel_lanes;
    const std::uint64_t* const lower = row.lower + panel * panel_lanes;
    std::uint64_t words[panel_lanes], low[panel_lanes], high[panel_lanes];
    for (std::size_t i = 0; i < panel_lanes; ++i) {
      const std::uint64_t bits = long_factor(upper[i], lower[i]), e = bits >> 52 & 2047;
      words[i] = e == 2047 ? bits : bits & ~std::uint64_t{7};
      low[i] = e == 0 ? 2047 : e;
      high[i] = e;
    }
    __builtin_memcpy(row.to + panel * row.step, words, sizeof words);
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

}  // namespace
}  // namespace gdr
