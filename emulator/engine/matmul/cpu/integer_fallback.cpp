// Exact matrix products on integers, for numbers outside of the range of those on doubles.
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "emulator/chip/reduction.hpp"
#include "emulator/engine/lanes/strip.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"

namespace gdr {
namespace {

using Row = std::array<std::uint64_t, panel_lanes>;

/// Longs of eight PEs, as shorts in lanes.
struct Longs {
  Row upper{}, lower{};
  Long word(std::size_t lane) const { return join(Short{upper[lane]}, Short{lower[lane]}); }
};

void split(double x, std::uint64_t& upper, std::uint64_t& lower) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  upper = bits >> 28;
  lower = (bits & ((std::uint64_t{1} << 28) - 1)) << 8;
}

Longs sum_of(const FallbackBlock& block) {
  const StripKernels& kernels = strip_kernels(block.isa);
  Longs sum;
  for (std::size_t k = 0; k < block.depth; ++k) {
    Longs a, b, product;
    for (std::size_t lane = 0; lane < panel_lanes; ++lane) {
      split(block.numbers[k * panel_lanes + lane], a.upper[lane], a.lower[lane]);
      split(block.item[k * block.step], b.upper[lane], b.lower[lane]);
    }
    const auto in = [](const Longs& x) { return InputRows{x.upper.data(), x.lower.data(), 0}; };
    const auto out = [](Longs& x) { return OutputRows{x.upper.data(), x.lower.data(), 0}; };
    kernels.dmul[1][1][1]({1, panel_lanes, in(a), in(b), out(product)});
    Longs before = sum;
    if (k == 0) {
      sum = product;
    } else {
      kernels.fadd[1][1][1]({1, panel_lanes, in(before), in(product), out(sum)});
    }
  }
  return sum;
}

bool negative(double x) { return std::signbit(x); }

}  // namespace

bool fallback_sum(const FallbackBlock& block, double* high, double* low) {
  const Longs sum = sum_of(block);
  for (std::size_t lane = 0; lane < panel_lanes; ++lane) {
    const std::uint64_t bits = (sum.upper[lane] << 28) | (sum.lower[lane] >> 8);
    const auto rest = static_cast<double>(sum.lower[lane] & 255);
    const int e = static_cast<int>(bits >> 52 & 2047) - 1023;
    high[lane] = std::bit_cast<double>(bits);
    low[lane] = 0;
    if (e == -1023) continue;
    if (e < -800 || e > 900) return false;
    low[lane] = std::ldexp(negative(high[lane]) ? -rest : rest, e - 60);
    // The head must be the pair's sum rounded to nearest.
    const double h = high[lane] + low[lane];
    low[lane] -= h - high[lane];
    high[lane] = h;
  }
  return true;
}

void fallback_column(const FallbackColumn& column, double* sums) {
  const MatmulFactors& f = column.factors;
  std::vector<Longs> blocks(f.blocks), chips(f.chips);
  Flags ignored = no_flags;
  const auto add_up = [&](const std::vector<Longs>& leaves, std::size_t lane) {
    std::vector<Long> words;
    for (const Longs& leaf : leaves) words.push_back(leaf.word(lane));
    return reduce_tree(Reduce::Fadd, words, ignored);
  };
  for (std::size_t chip = 0; chip < f.chips; ++chip) {
    for (std::size_t block = 0; block < f.blocks; ++block) {
      const std::size_t at = chip * f.blocks + block;
      const std::size_t numbers = (column.panel * f.chips * f.blocks + at) * f.depth * panel_lanes;
      blocks[block] = sum_of({column.isa, f.numbers + numbers,
                              column.items + at * f.depth * column.step, column.step, f.depth});
    }
    for (std::size_t lane = 0; lane < panel_lanes; ++lane) {
      const Long word = add_up(blocks, lane);
      chips[chip].upper[lane] = upper_half(word).bits;
      chips[chip].lower[lane] = lower_half(word).bits;
    }
  }
  for (std::size_t lane = 0; lane < panel_lanes; ++lane)
    sums[lane] = double_from_long(add_up(chips, lane), ignored);
}

void sign_zeros(const FallbackBlock& block, double* high, double* low) {
  for (std::size_t lane = 0; lane < panel_lanes; ++lane) {
    if (high[lane] + low[lane] != 0) continue;
    bool minus = true;
    for (std::size_t k = 0; k < block.depth && minus; ++k)
      minus =
          negative(block.numbers[k * panel_lanes + lane]) != negative(block.item[k * block.step]);
    high[lane] = minus ? -0.0 : 0.0;
    low[lane] = 0;
  }
}

}  // namespace gdr
