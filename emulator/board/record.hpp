// Record of executed lists, for timeline pictures.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/board/command.hpp"

namespace gdr {

/// A resource of a board: one direction of the link, a chip, or the whole board if details are
/// unknown.
enum class BusyPart : std::uint8_t { LinkWrite, Chip, LinkRead, Board };

/// Busy time of a resource for one command; seconds since the list began, on the real board.
struct BusyTime {
  BusyPart part{};
  std::uint32_t chip = 0;  ///< chip number, for BusyPart::Chip
  CommandKind command{};
  double begin = 0, end = 0;
};

/// One command list: its execution on this host (seconds of the steady clock), and the busy times
/// of the real board within `seconds`.
struct ListRecord {
  double host_begin = 0, host_end = 0;
  double seconds = 0;
  std::vector<BusyTime> busy;
};

}  // namespace gdr
