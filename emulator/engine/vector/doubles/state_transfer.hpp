// The words of a section between the state of a block and the rows of a frame.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr {

/// Which of the exported words are stored to the block.
enum class Wanted { All, Results, Carried };

/// Imports and exports of one section on one block, in a frame at `base`.
class StateTransfer {
 public:
  StateTransfer(const DoublesSection& section, const DoublesKernels& kernels, BlockState& block,
                double* base)
      : section_(section), kernels_(kernels), block_(block), base_(base) {}

  /// Constants to their rows. `known`: those that differ between blocks only.
  void fill_constants(bool known) const;
  /// The state's words to their rows; returns bits of DoublesFailure.
  std::uint64_t import() const;
  /// Exports rows; returns bits of DoublesFailure. Words that the section has read are buffered in
  /// `words` until verification succeeds; others are stored directly.
  std::uint64_t export_to(std::vector<std::uint64_t>& words, Wanted wanted) const;
  /// Stores buffered words after verification.
  void commit(const std::vector<std::uint64_t>& words, Wanted wanted) const;

 private:
  double* lanes(std::uint32_t offset) const { return base_ + offset / sizeof(double); }
  std::uint64_t* state_row(const StateLink& link, std::uint32_t word = 0) const;
  StateRows rows(const StateLink& link) const;
  void copy_masks_in(const StateLink& link) const;
  void fill_constant(const ConstantRow& c) const;

  const DoublesSection& section_;
  const DoublesKernels& kernels_;
  BlockState& block_;
  double* const base_;
};

}  // namespace gdr
