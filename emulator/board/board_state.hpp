// State of a board between commands, as plain data.
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
};

/// Chips that a command names: LoadProgram names all of them by naming none.
constexpr std::uint64_t chips_of(const Command& command) noexcept {
  const bool all = command.kind == CommandKind::LoadProgram && command.chips == 0;
  return all ? ~std::uint64_t{0} : command.chips;
}

/// Targets of a chip that a Run command asks for.
std::uint64_t targets_of(const BoardState& board, const Command& run, std::size_t chip) noexcept;

}  // namespace gdr
