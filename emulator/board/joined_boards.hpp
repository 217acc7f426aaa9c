// The waiting passes of several boards as those of one.
#pragma once

#include <span>

#include "emulator/board/board_state.hpp"
#include "emulator/board/pass_builder.hpp"

namespace gdr {

/// A board with passes that wait.
struct WaitingBoard {
  BoardState* board;
  const PassBuilder* passes;
};

/// Has the runner of the first board execute the passes of all, on the sources in its memory, where
/// boards have the same program, parameters and sources. False: nothing was done.
bool run_together(std::span<const WaitingBoard> boards);

}  // namespace gdr
