// The packed A of fast products: factors from the PEs' state, or from the records of their targets.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/cpu/record_rows.hpp"
#include "emulator/engine/matmul/pattern/pattern.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr {

/// An iteration of loop pc: consecutive inner indices of one chip, at most fast_kc. Factors of a
/// number of its blocks, or a part of them.
struct FastSlab {
  std::size_t chip = 0, first = 0, depth = 0;
  std::size_t begin = 0;  ///< offset of the packed factors: [panel][factor][lane]
};

/// Factors of a body's outputs for fast products, packed in slabs. Lane l of panel p is output
/// 8 p + l, the order of results; lanes beyond the last output hold zeros.
///
/// Factors come from the state or, if all target words are factors, directly from the records of
/// the link; the write to the state is then deferred.
class PackedSlabs {
 public:
  PackedSlabs(const MatmulPattern& products, const LoadedProgram& loaded, const Geometry& geometry);

  /// Allocates for chips 0 .. chips - 1; keeps the contents of earlier chips.
  void allocate(std::size_t chips);
  /// True if a block's target words and its factors are the same words.
  bool gathers_records() const noexcept { return !record_rows_.empty(); }
  /// Gathers one block's factors from the records of its targets. This and the next two are
  /// thread-safe for different blocks.
  void gather_records(std::size_t chip, std::size_t block, const std::uint64_t* records,
                      const FastMatmulFunctions& functions);
  /// Gathers one block's factors from the words of its PEs.
  void gather_words(std::size_t chip, const BlockState& block);
  /// Writes factors gathered from records to the state, if that was deferred.
  void scatter_words(std::size_t chip, BlockState& block);

  std::size_t panels() const noexcept { return panels_; }
  std::size_t slabs_of_chip() const noexcept { return (chip_depth_ + fast_kc - 1) / fast_kc; }
  FastSlab slab(std::size_t chip, std::size_t number) const noexcept;
  const double* numbers(const FastSlab& slab) const noexcept {
    return numbers_.data() + slab.begin;
  }
  /// Panels of a chip up to the last one that is not all +0.
  std::size_t panels_used(std::size_t chip) const noexcept;
  /// Upper bound of the factors of a slab up to the last one that is not +0 in every lane.
  std::size_t depth_used(const FastSlab& slab) const noexcept;

 private:
  const std::uint64_t* record_of(const std::uint64_t* records, std::size_t output) const;
  /// Calls piece(first factor, how many, their place for panel 0, doubles from panel to panel) for
  /// the factors of a block, slab by slab.
  template <typename Piece>
  void each_piece(std::size_t chip, std::size_t block, Piece&& piece);
  std::uint32_t& used(std::size_t chip, std::size_t block, std::size_t panel) {
    return used_[(chip * blocks_ + block) * panels_ + panel];
  }

  const MatmulPattern& products_;
  const std::size_t blocks_, elements_, target_words_;
  const std::size_t panels_, chip_depth_;
  const std::vector<std::uint64_t> zeros_;
  const std::vector<RecordRow> record_rows_;  ///< rows of target records, indexed by row of
                                              ///< factors; empty if records are not factors
  std::vector<double, LineAllocator<double>> numbers_;  ///< factors, slab by slab
  /// [chip][block][panel]: number of factors up to the last one that is not +0.
  std::vector<std::uint32_t> used_;
  std::vector<char> newer_;  ///< [chip][block]: whether they are newer than the state
};

}  // namespace gdr
