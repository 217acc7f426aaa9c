// State of a board between commands, as plain data, and validation of commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emulator/board/time_model.hpp"
#include "emulator/engine/api/pass.hpp"

namespace gdr {

/// A prepared program: loaded into chips, or cached for a later load.
struct ReadyProgram : LoadedProgram {
  std::vector<std::uint8_t> object;  ///< object file
  ProgramTiming timing;
  std::shared_ptr<const Executable> executable;
  std::unique_ptr<PassRunner> runner;
};

/// A chip with its control processor.
struct BoardChip {
  LoadedChip chip;
  BoardMemory memory;
  std::optional<std::uint64_t> targets;  ///< slots filled by WriteTargets; none before the first
  std::shared_ptr<ReadyProgram> loaded;  ///< program in the instruction store; null: none
};

struct BoardState {
  Geometry geometry;
  std::shared_ptr<const Engine> engine;
  unsigned threads = 0;
  std::vector<BoardChip> chips;
  /// Program of the chips of the current command; a command for chips with different programs is
  /// refused.
  std::shared_ptr<ReadyProgram> loaded;

  /// Timing of that program; zeros without a program, which commands on memory do not need.
  const ProgramTiming& timing() const noexcept {
    static const ProgramTiming none;
    return loaded ? loaded->timing : none;
  }
};

/// Calls `work(number, chip)` for each chip of a mask.
template <typename Work>
void for_each_chip(BoardState& board, std::uint64_t mask, const Work& work) {
  for (std::size_t number = 0; number < board.chips.size(); ++number)
    if (takes_part(mask, number)) work(number, board.chips[number]);
}

/// The payload of command `index` of a list. Throws gdr::Error (Device), naming the command, if it
/// is malformed or does not fit this board.
std::span<const std::uint64_t> check_command(const BoardState& board, const CommandList& list,
                                             std::size_t index);

}  // namespace gdr
