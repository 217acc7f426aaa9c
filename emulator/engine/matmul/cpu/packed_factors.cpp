#include "emulator/engine/matmul/cpu/packed_factors.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace gdr {

void PackedFactors::begin(const MatmulPattern& products, const Geometry& geometry,
                          std::size_t chips) {
  of_row_ = panels_of(geometry);
  panels_ = products.rows.size() * of_row_;
  chips_ = chips;
  blocks_ = geometry.blocks;
  depth_ = products.depth;
  numbers_.resize(panels_ * chips_ * blocks_ * depth_ * panel_lanes);
  intervals_.resize(panels_ * chips_ * blocks_);
  least_.resize(intervals_.size() * depth_);
  block_zeros_.assign(intervals_.size(), 0);
  zeros_.assign(panels_, 0);
}

void PackedFactors::gather(const MatmulPattern& products, std::size_t chip, const BlockState& block,
                           const MatmulFunctions& functions) {
  for (std::size_t row = 0; row < products.rows.size(); ++row) {
    const std::size_t panel = row * of_row_;
    const auto place = [&](std::size_t p) {
      return ((panel + p) * chips_ + chip) * blocks_ + block.number;
    };
    for (std::size_t p = 0; p < of_row_; ++p) intervals_[place(p)] = {last_exponent, 0};
    const std::size_t whole = block.pes / panel_lanes, rest = block.pes % panel_lanes;
    const std::size_t panel_blocks = chips_ * blocks_;
    // A short is the upper half of the long of the same value.
    const bool shorts = products.width == Width::Short;
    const std::vector<std::uint64_t> zeros(shorts ? block.pes : 0);
    for (std::size_t k = 0; k < depth_; ++k) {
      const std::uint64_t* const upper = lanes_of(block, products.rows[row][k]);
      const std::uint64_t* const lower = shorts ? zeros.data() : upper + block.pes;
      const auto take_panels = [&](const std::uint64_t* from, const std::uint64_t* behind,
                                   std::size_t first, std::size_t count) {
        functions.gather({from, behind, count,
                          numbers_.data() + (place(first) * depth_ + k) * panel_lanes,
                          panel_blocks * depth_ * panel_lanes, &intervals_[place(first)],
                          panel_blocks, &least_[place(first) * depth_ + k], panel_blocks * depth_});
      };
      if (whole > 0) take_panels(upper, lower, 0, whole);
      if (rest == 0) continue;
      std::array<std::uint64_t, 2 * panel_lanes> filled{};  // PEs that are not there hold zeros
      std::copy_n(upper + whole * panel_lanes, rest, filled.data());
      std::copy_n(lower + whole * panel_lanes, rest, filled.data() + panel_lanes);
      take_panels(filled.data(), filled.data() + panel_lanes, whole, 1);
    }
    for (std::size_t p = 0; p < of_row_; ++p) {
      ExponentInterval& interval = intervals_[place(p)];
      if (interval.least <= interval.most) continue;
      interval = {};
      const double* const numbers = numbers_.data() + place(p) * depth_ * panel_lanes;
      block_zeros_[place(p)] = std::all_of(numbers, numbers + depth_ * panel_lanes, [](double x) {
        return std::bit_cast<std::uint64_t>(x) == 0;
      });
    }
  }
}

void PackedFactors::find_zeros() {
  const auto panel_blocks = static_cast<std::ptrdiff_t>(chips_ * blocks_);
  auto block = block_zeros_.begin();
  for (char& zero : zeros_) {
    zero = std::all_of(block, block + panel_blocks, [](char z) { return z != 0; }) ? 1 : 0;
    block += panel_blocks;
  }
}

MatmulFactors PackedFactors::view() const noexcept {
  const auto first = static_cast<std::size_t>(std::ranges::find(zeros_, 1) - zeros_.begin());
  return {numbers_.data(), intervals_.data(), least_.data(), panels_, chips_, blocks_,
          depth_,          zeros_.data(),     first};
}

}  // namespace gdr
