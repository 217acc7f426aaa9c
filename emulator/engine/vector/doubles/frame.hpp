// A section on one block: memory, passes, verification.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/vector/doubles/run.hpp"
#include "emulator/engine/vector/doubles/state_transfer.hpp"

namespace gdr {

/// One section on one block. One at a time in a thread.
class Frame {
 public:
  Frame(const DoublesSection& section, const DoublesKernels& kernels, BlockState& block,
        const BlockRun& steps, SourceLanes sources);

  DoublesRun& run() { return run_; }
  /// Bits of DoublesFailure so far.
  std::uint64_t failure() const;

  /// Constants and the state's words to their rows. False on failure.
  bool import();
  /// All operations of a list.
  void once(const OpList& list) {
    for (const DoublesOp* op = list.ops.data(); op != nullptr; op = run_.next)
      op->kernel(*op, run_);
  }
  void next_group() {
    run_.memory[1] += source_step_;
    run_.memory[2] += output_step_;
  }
  /// What precedes the first of passes that do not compute dead lanes.
  void before_passes();
  /// All passes of a run. True if a checkpoint was saved before the last ones.
  bool all_passes(const BlockRun& run);
  /// Restores the rows that the last passes overwrite.
  void restore_checkpoint();
  /// Exports all words without storing those that the section has read: for their failures.
  void test_export();
  /// Exports the words. True if verification succeeded; then they are in the block.
  bool leave(Wanted wanted);
  /// Restores the words that the section may have written in the broadcast memory.
  void restore_memory() const;

 private:
  double* lanes(std::uint32_t offset) const {
    return reinterpret_cast<double*>(run_.frame) + offset / sizeof(double);
  }
  void clear_failure();
  void save_checkpoint() const;

  const DoublesSection& section_;
  const DoublesKernels& kernels_;
  BlockState& block_;
  const bool writes_memory_;  ///< whether it stores to the block's broadcast memory
  DoublesRun run_;
  std::size_t source_step_ = 0, output_step_ = 0;
  StateTransfer transfer_;
};

}  // namespace gdr
