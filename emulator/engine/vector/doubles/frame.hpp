// Execution of a section on doubles on one block: import, passes, export.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/run.hpp"

namespace gdr {

/// MXCSR's exception flags.
unsigned raised_flags() noexcept;
void clear_flags() noexcept;

/// One section on one block. One at a time in a thread.
class Frame {
 public:
  Frame(const DoublesSection& section, const DoublesKernels& kernels, BlockState& block,
        const BlockRun& steps, SourceLanes sources);

  DoublesRun& run() { return run_; }
  bool failed() const;

  /// Constants and the state's words to their rows; returns bits of DoublesFailure.
  std::uint64_t import();
  /// All operations of a list; those of a pass, which goes on to the next group of j-items.
  void once(const OpList& list);
  void pass(const OpList& list) {
    once(list);
    next_group();
  }
  void next_group() {
    run_.memory[1] += source_step_;
    run_.memory[2] += output_step_;
  }

  /// Saves and restores the rows that the last pass overwrites.
  void save_checkpoint();
  void restore_checkpoint();

  /// Which of the exported words are stored to the block.
  enum class Wanted { All, Results, Carried };
  /// Exports rows; returns bits of DoublesFailure. Words that the section has read are buffered in
  /// `words` until verification succeeds; others are stored directly.
  std::uint64_t export_to(std::vector<std::uint64_t>& words, Wanted wanted);
  void commit(const std::vector<std::uint64_t>& words, Wanted wanted);

 private:
  double* lanes(std::uint32_t offset) const { return base_ + offset / sizeof(double); }
  std::uint64_t* state_row(const StateLink& link, std::uint32_t word = 0) const;
  StateRows rows(const StateLink& link) const;
  void copy_masks_in(const StateLink& link) const;
  void fill_constant(const ConstantRow& c) const;
  static bool skips(const StateLink& link, Wanted wanted);

  const DoublesSection& section_;
  const DoublesKernels& kernels_;
  BlockState& block_;
  double* base_ = nullptr;
  DoublesRun run_;
  std::size_t source_step_ = 0, output_step_ = 0;
};

}  // namespace gdr
