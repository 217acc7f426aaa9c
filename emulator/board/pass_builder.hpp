// Commands of lists as passes of the engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/board/board_state.hpp"
#include "emulator/board/command.hpp"

namespace gdr {

/// Targets of each chip that a Run command asks for.
class RunTargets {
 public:
  RunTargets(const BoardState& board, std::uint64_t targets, ChipPartition partition) noexcept
      : fixed_(targets != 0 || board.loaded->targets.empty()),
        targets_(targets != 0 ? targets
                              : target_slots(board.loaded->program, board.geometry, partition)) {}

  std::uint64_t of(const BoardChip& chip) const noexcept {
    return fixed_ || !chip.targets ? targets_ : std::min(*chip.targets, targets_);
  }

 private:
  bool fixed_;             ///< whether what was written does not matter
  std::uint64_t targets_;  ///< number of targets, else their maximum
};

/// A parameter that is written again with the value that it has.
struct ParamWrite {
  std::uint64_t chips = 0;
  std::uint32_t variable = 0;
  std::vector<std::uint64_t> words;
};

/// A pass that is executed later.
struct PendingPass {
  std::vector<ParamWrite> params;  ///< parameters to be written before the pass
  std::vector<PassChip> chips;
  std::vector<TargetWrite> writes;
  std::vector<PassRun> runs;
  std::vector<ResultRead> reads;
  std::vector<std::uint64_t>* results = nullptr;

  void clear() noexcept {
    params.clear();
    chips.clear();
    writes.clear();
    runs.clear();
    reads.clear();
  }
  Pass pass(unsigned threads, MemoryWrites* memory_writes = nullptr) const {
    return {chips, writes, runs, reads, results->data(), threads, memory_writes};
  }
};

/// Collects validated commands, writes before runs before reads, as passes, and executes these on
/// `flush`; a command that violates this order begins the next pass. Other kinds of commands
/// require a flush before them. Passes of several lists may wait for a flush. Keeps its buffers,
/// since small lists are frequent.
class PassBuilder {
 public:
  explicit PassBuilder(BoardState& board) : board_(board) {}

  /// Begins a list, whose results are stored in `results`, from offsets that the reads name.
  /// `defers`: the passes at its end wait.
  void begin(std::vector<std::uint64_t>& results, bool defers);
  /// Writes to memories, which are completed before the next pass, or by it.
  MemoryWrites& memory_writes() noexcept { return memory_writes_; }
  /// Passes that wait.
  const std::vector<PendingPass>& pending() const noexcept { return pending_; }
  void discard() noexcept { pending_.clear(); }

  void add_write(const Command& c, const std::uint64_t* records);
  /// `result_offset`: offset of returned output items in the results.
  void add_run(const Command& c, const LoopPlan& plan, std::size_t result_offset);
  void add_read(const Command& c, std::size_t result_offset);

  /// Whether a parameter that keeps its value can be written without a flush: passes wait, and none
  /// has begun since.
  bool takes_params() const noexcept {
    return !pending_.empty() && writes_.empty() && runs_.empty() && reads_.empty();
  }
  void add_param(ParamWrite param) { params_.push_back(std::move(param)); }

  /// Executes all passes, in their order.
  void flush();
  /// Flushes pending runs; call before accesses to the memory.
  void flush_run();
  /// At the end of a list whose last passes may wait: they do unless something lies in the list.
  void leave(const CommandList& list);

 private:
  void run_pending();
  void run(const PendingPass& pass);
  bool run_together(std::span<const PendingPass> pending) const;
  void end_pass();
  void close();
  void set(const ParamWrite& param) const;

  BoardState& board_;
  std::vector<std::uint64_t>* results_ = nullptr;
  bool defers_ = false;
  MemoryWrites memory_writes_;
  std::vector<ParamWrite> params_;  ///< parameters to be written before the current pass
  std::vector<TargetWrite> writes_;
  std::vector<PassRun> runs_;
  std::vector<ResultRead> reads_;
  std::vector<PendingPass> pending_;
  // Buffers of the last flush, which keep their memory.
  std::vector<PendingPass> taken_;
  std::vector<ParamWrite> taken_params_;
  PendingPass spare_;
};

}  // namespace gdr
