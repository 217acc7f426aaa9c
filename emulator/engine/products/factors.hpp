// What stands in the PEs, taken out of the state for the kernels.
#pragma once

#include <span>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/products/find.hpp"
#include "emulator/engine/products/kernels.hpp"

namespace gdr {

/// Factors of all rows of a body, for some chips.
class PackedFactors {
 public:
  /// Panels of a row that some blocks' PEs fill.
  static std::size_t panels_of(const Geometry& geometry) noexcept {
    return (geometry.pes_per_block + panel_lanes - 1) / panel_lanes;
  }

  /// Makes room; nothing is kept.
  void begin(const SummedProducts& products, const Geometry& geometry, std::size_t chips);
  /// Takes one block's words. Different blocks may be taken by different threads.
  void take(const SummedProducts& products, std::size_t chip, const BlockState& block,
            const ProductKernels& kernels);
  /// When all blocks were taken: finds the panels that hold nothing but +0.
  void find_zeros();
  ProductFactors view() const noexcept;

 private:
  std::size_t panels_ = 0, of_row_ = 0, chips_ = 0, blocks_ = 0, depth_ = 0;
  std::vector<double, LineAllocator<double>> numbers_;
  std::vector<ExponentRange> ranges_;
  std::vector<std::int16_t> least_;
  std::vector<char> block_zeros_, zeros_;  ///< [panel][chip][block], [panel]: all are +0
};

}  // namespace gdr
