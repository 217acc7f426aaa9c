#include "emulator/engine/products/factors.hpp"

#include <algorithm>
#include <bit>

namespace gdr {
namespace {

/// A long as a double: its leading 53 bits, which are all that it has if it came as a double, or
/// the 50 that the multiplier sees. A zero is one of its sign.
double number(std::uint64_t upper, std::uint64_t lower, bool cut) noexcept {
  const std::uint64_t bits = (upper << 28) | (lower >> 8);
  const std::uint64_t exponent = bits >> 52 & 2047;
  if (exponent == 0) return std::bit_cast<double>(bits & (std::uint64_t{1} << 63));
  if (exponent == 2047) {
    // A NaN may have its bits behind those of a double.
    const bool infinite = (bits << 12) == 0 && (lower & 255) == 0;
    return std::bit_cast<double>(infinite ? bits : std::uint64_t{0x7ff8} << 48);
  }
  return std::bit_cast<double>(cut ? bits & ~std::uint64_t{7} : bits);
}

const std::uint64_t* lanes_of(const BlockState& block, const PeWord& word) noexcept {
  const LaneMemory& memory = word.space == Space::Local ? block.local : block.registers;
  return memory.data() + std::size_t{word.address} * block.pes;
}

}  // namespace

void PackedFactors::begin(const SummedProducts& products, const Geometry& geometry,
                          std::size_t chips) {
  of_row_ = panels_of(geometry);
  panels_ = products.rows.size() * of_row_;
  chips_ = chips;
  blocks_ = geometry.blocks;
  depth_ = products.depth;
  numbers_.resize(panels_ * chips_ * blocks_ * depth_ * panel_lanes);
  ranges_.resize(panels_ * chips_ * blocks_);
}

void PackedFactors::take(const SummedProducts& products, std::size_t chip, const BlockState& block,
                         bool cut) {
  for (std::size_t panel = 0; panel < panels_; ++panel) {
    const auto& words = products.rows[panel / of_row_];
    const std::size_t first = panel % of_row_ * panel_lanes;
    const std::size_t live = std::min<std::size_t>(panel_lanes, block.pes - first);
    const std::size_t at = (panel * chips_ + chip) * blocks_ + block.number;
    double* to = numbers_.data() + at * depth_ * panel_lanes;
    ExponentRange range{2047, 0};
    for (const PeWord& word : words) {
      const std::uint64_t* const upper = lanes_of(block, word) + first;
      const std::uint64_t* const lower = upper + block.pes;
      for (std::size_t pe = 0; pe < panel_lanes; ++pe) {
        to[pe] = pe < live ? number(upper[pe], lower[pe], cut) : 0;
        const auto e = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(to[pe]) >> 52 & 2047);
        range.least = std::min(range.least, e == 0 ? 2047 : e);
        range.most = std::max(range.most, e);
      }
      to += panel_lanes;
    }
    ranges_[at] = range.least > range.most ? ExponentRange{} : range;
  }
}

ProductFactors PackedFactors::view() const noexcept {
  return {numbers_.data(), ranges_.data(), panels_, chips_, blocks_, depth_};
}

}  // namespace gdr
