// Execution of the commands of a list, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/board/board_state.hpp"
#include "emulator/board/memory_writer.hpp"
#include "emulator/board/pass_builder.hpp"
#include "emulator/board/program_cache.hpp"
#include "emulator/board/time_model.hpp"

namespace gdr {

/// Changes the state of a board by commands; targets, runs and results become passes.
class CommandExecutor {
 public:
  /// The arguments outlive this object.
  CommandExecutor(BoardState& board, ProgramCache& programs, PassBuilder& passes, ListTimer& timer)
      : board_(board), programs_(programs), passes_(passes), timer_(timer), memory_writer_(board) {}

  /// Begins a list, whose results may have up to `max_words`.
  void begin_list(std::vector<std::uint64_t>& results, std::uint64_t max_words) noexcept;
  /// Executes a command of the list. Throws gdr::Error, without effect, as Board::execute.
  void execute(const CommandList& list, std::size_t index);
  /// Number of result words of the list so far.
  std::size_t result_words() const noexcept { return words_; }

 private:
  using Payload = std::span<const std::uint64_t>;

  std::size_t expect(std::size_t more);
  void select_program(const Command& c);
  void load_program(const Command& c, Payload payload);
  void write_targets(const Command& c, Payload payload);
  void write_param(const Command& c, Payload payload);
  void run(const Command& c);
  void read_targets(const Command& c);
  void read_memory(const Command& c);

  BoardState& board_;
  ProgramCache& programs_;
  PassBuilder& passes_;
  ListTimer& timer_;
  MemoryWriter memory_writer_;
  std::vector<std::uint64_t>* results_ = nullptr;  ///< results of the current list
  std::uint64_t max_words_ = 0;                    ///< maximum number of their words
  std::size_t words_ = 0;                          ///< number of their words so far
};

}  // namespace gdr
