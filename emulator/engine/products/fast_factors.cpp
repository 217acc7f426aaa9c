#include "emulator/engine/products/fast_factors.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "emulator/engine/products/long_factor.hpp"

namespace gdr {
/// In a square output 8 i + l is row l of the first eight outputs, of the PE that is i behind
/// theirs.
bool FastFactors::is_square(const SummedProducts& products, std::size_t panel) const {
  const auto& outputs = products.outputs;
  const std::size_t first = panel * fast_lanes;
  if (first + fast_lanes * fast_lanes > outputs.size()) return false;
  for (std::size_t i = 0; i < fast_lanes * fast_lanes; ++i) {
    const auto &has = outputs[first + i], &row = outputs[first + i % fast_lanes];
    if (has.row != row.row || has.pe != outputs[first].pe + i / fast_lanes) return false;
  }
  return true;
}

void FastFactors::begin(const SummedProducts& products, const Geometry& geometry,
                        std::size_t chips) {
  panels_ = (products.outputs.size() + fast_lanes - 1) / fast_lanes;
  chips_ = chips;
  chip_depth_ = std::size_t{geometry.blocks} * products.depth;
  numbers_.resize(panels_ * fast_lanes * chips_ * chip_depth_);
  squares_.assign(panels_, 0);
  for (std::size_t p = 0; p < panels_; ++p) squares_[p] = is_square(products, p) ? 1 : 0;
}

FastSlab FastFactors::slab(std::size_t number) const noexcept {
  const std::size_t chip = number / slabs_of_chip(), first = number % slabs_of_chip() * slab_depth;
  return {chip, first, std::min(slab_depth, chip_depth_ - first),
          (chip * chip_depth_ + first) * panels_ * fast_lanes};
}

void FastFactors::take(const SummedProducts& products, std::size_t chip, const BlockState& block,
                       const FastKernels& kernels) {
  // A short is the upper half of the long of the same value.
  const std::size_t lower = products.width == Width::Long ? block.pes : 0;
  for (std::size_t panel = 0; panel < panels_;) {
    const auto outputs = std::span(products.outputs).subspan(panel * fast_lanes);
    const bool square = squares_[panel] != 0;
    for (std::size_t k = 0; k < products.depth; ++k) {
      const std::size_t at = block.number * products.depth + k;
      const FastSlab s = slab(chip * slabs_of_chip() + at / slab_depth);
      const std::size_t step = s.depth * fast_lanes;
      double* const to = numbers_.data() + s.begin + panel * step + (at - s.first) * fast_lanes;
      const auto upper = [&](std::size_t lane) {
        return lanes_of(block, products.rows[outputs[lane].row][k]) + outputs[lane].pe;
      };
      if (square) {
        FastSquare words{{}, lower, to, step};
        for (std::size_t w = 0; w < fast_lanes; ++w) words.upper[w] = upper(w);
        kernels.take(words);
        continue;
      }
      for (std::size_t lane = 0; lane < fast_lanes; ++lane) {
        const std::uint64_t* const word = lane < outputs.size() ? upper(lane) : nullptr;
        to[lane] = word == nullptr
                       ? 0
                       : std::bit_cast<double>(long_factor(word[0], lower != 0 ? word[lower] : 0));
      }
    }
    panel += square ? fast_lanes : 1;
  }
}

}  // namespace gdr
