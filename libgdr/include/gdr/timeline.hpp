// The time line of a device: when its link and its chips would be busy, and the host between them.
#pragma once

#include <cstdint>
#include <string>

namespace gdr {

/// Something that was busy. Times are seconds on the real board, from the beginning of the record;
/// the host's are measured here, between the end of one command list and the beginning of the next.
struct TimelineEvent {
  unsigned board = 0;
  std::string part;  ///< "host", "link write", "link read", "chip N", or "board" of one elsewhere
  std::string what;  ///< the command: "run", "write targets", ...; of the host "between lists"
  double begin = 0, end = 0;
};

}  // namespace gdr
