// Combines commands into passes: targets, the loop, results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/board/board_state.hpp"
#include "emulator/board/command.hpp"
#include "emulator/engine/pass.hpp"

namespace gdr {

/// Collects validated commands, writes before runs before reads, and executes them as one pass on
/// `flush`; a command that violates this order flushes first. Other kinds of commands require a
/// flush before them.
class PassBuilder {
 public:
  /// Results are stored in `results`, from offsets that the reads name.
  PassBuilder(BoardState& board, std::vector<std::uint64_t>& results)
      : board_(board), results_(results) {}

  void add_write(const Command& command, const std::uint64_t* records);
  /// `result_offset`: offset of returned output items in the results.
  void add_run(const Command& command, const LoopPlan& plan, std::size_t result_offset);
  void add_read(const Command& command, std::size_t result_offset);
  void flush();
  /// Flushes pending runs; call before accesses to the memory.
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
