// What a board wrote down about the lists that it executed, for pictures of its time line.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/board/command.hpp"

namespace gdr {

/// What is busy on a board: one direction of the link, or a chip; or, where nobody knows more of a
/// list, the whole of it.
enum class BusyPart : std::uint8_t { LinkWrite, Chip, LinkRead, Board };

/// A part of the board at work for one command; seconds since the list began, on the real board.
struct BusyTime {
  BusyPart part{};
  std::uint32_t chip = 0;  ///< of BusyPart::Chip
  CommandKind command{};
  double begin = 0, end = 0;
};

/// One command list: when it was executed here (seconds of the host's steady clock), and how the
/// real board would have been busy with it for `seconds`.
struct ListRecord {
  double host_begin = 0, host_end = 0;
  double seconds = 0;
  std::vector<BusyTime> busy;
};

}  // namespace gdr
