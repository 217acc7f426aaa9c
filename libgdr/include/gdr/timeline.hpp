// Timeline of a device: busy times of the link, the chips and the host.
#pragma once

#include <cstdint>
#include <string>

namespace gdr {

/// A busy time. Times are predicted seconds on the real board from the start of the recording;
/// times of the host are measured between the end of a command list and the start of the next.
struct TimelineEvent {
  unsigned board = 0;  ///< number of the board
  std::string part;    ///< busy part: "host", "link write", "link read", "chip N", "board" (remote)
  std::string what;    ///< command: "run", "write targets", ...; "between lists" for the host
  double begin = 0, end = 0;  ///< seconds
};

}  // namespace gdr
