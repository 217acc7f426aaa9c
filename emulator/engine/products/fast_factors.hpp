// What stands in the PEs as the fast kernels take it: by output and by slab.
#pragma once

#include <optional>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/products/fast_kernels.hpp"
#include "emulator/engine/products/find.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr {

/// Consecutive inner indices of one chip: a number of its blocks' factors, or a part of them.
struct FastSlab {
  std::size_t chip = 0, first = 0, depth = 0;
  std::size_t begin = 0;  ///< of its factors, among all: [panel][factor][lane]
};

/// Factors of the outputs of a body: lane l of panel p is of output 8 p + l, so that sums come out
/// as they leave. Lanes behind the last output hold zeros.
///
/// They come from the state or, where targets are nothing but factors, straight from the records of
/// the link. Then they are what the PEs hold, and the state gets it when somebody looks at it.
class FastFactors {
 public:
  FastFactors(const SummedProducts& products, const LoadedProgram& loaded,
              const Geometry& geometry);

  /// Makes room for the chips 0 .. chips - 1; what those before hold stays.
  void make_room(std::size_t chips);
  /// Whether a block's targets are factors, each one of them, and all of its factors are targets.
  bool takes_records() const noexcept { return !record_rows_.empty(); }
  /// Takes one block's factors from the records of its targets. Here and below different blocks may
  /// be worked on by different threads.
  void take_records(std::size_t chip, std::size_t block, const std::uint64_t* records,
                    const FastKernels& kernels);
  /// Takes one block's factors from the words that stand in its PEs.
  void take_words(std::size_t chip, const BlockState& block);
  /// Puts what came from records, and the state does not have yet, to its place there.
  void put_words(std::size_t chip, BlockState& block);

  std::size_t panels() const noexcept { return panels_; }
  std::size_t slabs_of_chip() const noexcept { return (chip_depth_ + slab_depth - 1) / slab_depth; }
  FastSlab slab(std::size_t chip, std::size_t number) const noexcept;
  const double* numbers(const FastSlab& slab) const noexcept {
    return numbers_.data() + slab.begin;
  }
  /// Panels of a chip up to the last one that holds more than +0.
  std::size_t panels_used(std::size_t chip) const noexcept;
  /// Factors of a slab up to the last one that is more than +0 in any lane, or somewhat more.
  std::size_t depth_used(const FastSlab& slab) const noexcept;

 private:
  /// Where a record has the factors of a row, side by side: that of which element, from which
  /// word on.
  struct RecordRow {
    std::uint32_t element = 0, word = 0;
  };
  std::optional<RecordRow> record_row(const LoadedProgram& loaded, std::size_t row) const;
  const std::uint64_t* record_of(const std::uint64_t* records, std::size_t output) const;
  void find_records(const LoadedProgram& loaded);
  /// Calls piece(first factor, how many, their place for panel 0, doubles from panel to panel) for
  /// the factors of a block, slab by slab.
  template <typename Piece>
  void each_piece(std::size_t chip, std::size_t block, Piece&& piece);
  std::uint32_t& used(std::size_t chip, std::size_t block, std::size_t panel) {
    return used_[(chip * blocks_ + block) * panels_ + panel];
  }

  const SummedProducts& products_;
  const std::size_t blocks_, pes_, elements_, target_words_;
  const std::size_t panels_, chip_depth_;
  const std::vector<std::uint64_t> zeros_;
  std::vector<RecordRow> record_rows_;  ///< by row; empty: records are something else
  std::vector<double, LineAllocator<double>> numbers_;  ///< slab by slab
  std::vector<std::uint32_t> used_;  ///< [chip][block][panel]: up to the last factor but +0
  std::vector<char> ahead_;          ///< [chip][block]: of the state
};

}  // namespace gdr
