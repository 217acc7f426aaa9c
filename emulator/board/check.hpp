// Validation of a command before its execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "emulator/board/board_state.hpp"
#include "emulator/board/command.hpp"

namespace gdr {

/// The payload of command `index` of a list. Throws gdr::Error (Device), naming the command, if it
/// is malformed or does not fit this board.
std::span<const std::uint64_t> check_command(const BoardState& board, const CommandList& list,
                                             std::size_t index);

}  // namespace gdr
