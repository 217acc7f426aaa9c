// The packed A of exact products: factors of the PEs' words, as doubles, with their exponents.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/pattern/pattern.hpp"

namespace gdr {

/// Factors of all rows of a body for exact products, for some chips.
class PackedFactors {
 public:
  /// Panels of a row.
  static std::size_t panels_of(const Geometry& geometry) noexcept {
    return (geometry.pes_per_block + panel_lanes - 1) / panel_lanes;
  }

  /// Allocates; discards previous contents.
  void begin(const MatmulPattern& products, const Geometry& geometry, std::size_t chips);
  /// Gathers one block's words. Thread-safe for different blocks.
  void gather(const MatmulPattern& products, std::size_t chip, const BlockState& block,
              const MatmulFunctions& functions);
  /// After all blocks are gathered: finds the panels that are all +0.
  void find_zeros();
  MatmulFactors view() const noexcept;

 private:
  std::size_t panels_ = 0, of_row_ = 0, chips_ = 0, blocks_ = 0, depth_ = 0;
  std::vector<double, LineAllocator<double>> numbers_;
  std::vector<ExponentInterval> intervals_;
  std::vector<std::int16_t> least_;
  std::vector<char> block_zeros_, zeros_;  ///< [panel][chip][block], [panel]: all are +0
};

}  // namespace gdr
