// The boards that this host can reach without being told where.
#pragma once

#include <string>
#include <vector>

namespace gdr::cli {

/// A board, and how to open it.
struct BoardPlace {
  std::string device;  ///< name for --device; empty if it cannot be opened
  std::string what;    ///< address or server of the place, or why it cannot be used
  bool free = false;   ///< whether a board can be opened at once
};

/// Boards on the bus, and the server at the default socket.
std::vector<BoardPlace> board_places();

}  // namespace gdr::cli
