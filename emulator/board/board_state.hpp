// What a board holds between commands, as plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/board/loaded_program.hpp"
#include "emulator/board/memory.hpp"
#include "emulator/board/time_model.hpp"
#include "emulator/chip/state.hpp"

namespace gdr {

/// A chip with its control processor.
struct BoardChip {
  ChipState state;
  BoardMemory memory;
  std::optional<std::uint64_t> targets;  ///< slots that WriteTargets filled, from 0; none: never
  ChipClocks clocks;
};

struct BoardState {
  Geometry geometry;
  std::shared_ptr<const Engine> engine;
  unsigned threads = 0;
  std::vector<BoardChip> chips;
  std::optional<LoadedProgram> loaded;
};

constexpr bool takes_part(std::uint64_t chips, std::size_t chip) noexcept {
  return ((chips >> chip) & 1) != 0;
}

/// Targets of a chip that a Run command asks for.
std::uint64_t targets_of(const BoardState& board, const Command& run, std::size_t chip) noexcept;

}  // namespace gdr
