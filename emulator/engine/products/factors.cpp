#include "emulator/engine/products/factors.hpp"

#include <algorithm>
#include <array>

namespace gdr {
namespace {

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
                         const ProductKernels& kernels) {
  for (std::size_t panel = 0; panel < panels_; ++panel) {
    const auto& words = products.rows[panel / of_row_];
    const std::size_t first = panel % of_row_ * panel_lanes;
    const std::size_t live = std::min<std::size_t>(panel_lanes, block.pes - first);
    const std::size_t at = (panel * chips_ + chip) * blocks_ + block.number;
    double* to = numbers_.data() + at * depth_ * panel_lanes;
    ExponentRange range{2047, 0};
    for (const PeWord& word : words) {
      const std::uint64_t* upper = lanes_of(block, word) + first;
      const std::uint64_t* lower = upper + block.pes;
      std::array<std::uint64_t, 2 * panel_lanes> filled{};
      if (live < panel_lanes) {  // PEs that are not there hold zeros
        std::copy_n(upper, live, filled.data());
        std::copy_n(lower, live, filled.data() + panel_lanes);
        upper = filled.data();
        lower = upper + panel_lanes;
      }
      kernels.take(upper, lower, to, range);
      to += panel_lanes;
    }
    ranges_[at] = range.least > range.most ? ExponentRange{} : range;
  }
}

ProductFactors PackedFactors::view() const noexcept {
  return {numbers_.data(), ranges_.data(), panels_, chips_, blocks_, depth_};
}

}  // namespace gdr
