// What a board holds between commands, as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/board/program_timing.hpp"
#include "emulator/engine/pass.hpp"

namespace gdr {

/// A program that a board holds ready: loaded into chips, or kept for when it is loaded again.
struct ReadyProgram : LoadedProgram {
  std::vector<std::uint8_t> object;  ///< as it came
  ProgramTiming timing;
  std::shared_ptr<const Executable> executable;
  std::unique_ptr<PassRunner> runner;
};

/// A chip with its control processor.
struct BoardChip {
  LoadedChip chip;
  BoardMemory memory;
  std::optional<std::uint64_t> targets;  ///< slots that WriteTargets filled, from 0; none: never
  std::shared_ptr<ReadyProgram> loaded;  ///< its instruction store; null: nothing
};

struct BoardState {
  Geometry geometry;
  std::shared_ptr<const Engine> engine;
  unsigned threads = 0;
  std::vector<BoardChip> chips;
  /// That of the chips which the command in work names: they hold the same, or it is refused.
  std::shared_ptr<ReadyProgram> loaded;
};

/// Chips that a command names: LoadProgram names all of them by naming none.
constexpr std::uint64_t chips_of(const Command& command) noexcept {
  const bool all = command.kind == CommandKind::LoadProgram && command.chips == 0;
  return all ? ~std::uint64_t{0} : command.chips;
}

/// Targets of a chip that a Run command asks for.
std::uint64_t targets_of(const BoardState& board, const Command& run, std::size_t chip) noexcept;

}  // namespace gdr
