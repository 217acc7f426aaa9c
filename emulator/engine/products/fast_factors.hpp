// What stands in the PEs, taken out of the state for the fast kernels: by output and by slab.
#pragma once

#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/products/fast_kernels.hpp"
#include "emulator/engine/products/find.hpp"

namespace gdr {

/// Consecutive inner indices of one chip: a number of its blocks' factors, or a part of them.
struct FastSlab {
  std::size_t chip = 0, first = 0, depth = 0;
  std::size_t begin = 0;  ///< of its factors, among all: [panel][factor][lane]
};

/// Factors of the outputs of a body, for some chips: lane l of panel p is of output 8 p + l, so
/// that sums come out as they leave. Lanes behind the last output hold zeros.
class FastFactors {
 public:
  /// Makes room; nothing is kept.
  void begin(const SummedProducts& products, const Geometry& geometry, std::size_t chips);
  /// Takes one block's words. Different blocks may be taken by different threads.
  void take(const SummedProducts& products, std::size_t chip, const BlockState& block,
            const FastKernels& kernels);
  std::size_t panels() const noexcept { return panels_; }
  std::size_t slabs() const noexcept { return chips_ * slabs_of_chip(); }
  FastSlab slab(std::size_t number) const noexcept;
  const double* numbers(const FastSlab& slab) const noexcept {
    return numbers_.data() + slab.begin;
  }

 private:
  std::size_t slabs_of_chip() const noexcept { return (chip_depth_ + slab_depth - 1) / slab_depth; }
  bool is_square(const SummedProducts& products, std::size_t panel) const;

  std::size_t panels_ = 0, chips_ = 0, chip_depth_ = 0;
  std::vector<char> squares_;  ///< by panel: eight PEs' outputs of the same eight rows begin here
  std::vector<double, LineAllocator<double>> numbers_;
};

}  // namespace gdr
