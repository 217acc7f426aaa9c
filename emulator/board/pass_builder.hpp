// Collects commands that an engine executes together: targets, the loop, results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/board/board_state.hpp"
#include "emulator/board/command.hpp"
#include "emulator/engine/pass.hpp"

namespace gdr {

/// Takes checked commands in their order, writes before runs before reads, and has them executed as
/// one pass on `flush`; adding one that does not fit this order flushes first. Commands that are
/// not kept here need a flush before them.
class PassBuilder {
 public:
  /// Results are stored in `results`, from offsets that the reads name.
  PassBuilder(BoardState& board, std::vector<std::uint64_t>& results)
      : board_(board), results_(results) {}

  void add_write(const Command& command, const std::uint64_t* records);
  /// `result_offset`: where output items go that the run returns.
  void add_run(const Command& command, const LoopPlan& plan, std::size_t result_offset);
  void add_read(const Command& command, std::size_t result_offset);
  void flush();
  /// Before anything that the run must not see, or that must see what it did, in memory.
  void flush_run() {
    if (!runs_.empty()) flush();
  }

 private:
  BoardState& board_;
  std::vector<std::uint64_t>& results_;
  std::vector<TargetWrite> writes_;
  std::vector<ResultRead> reads_;
  std::vector<PassRun> runs_;
};

}  // namespace gdr
