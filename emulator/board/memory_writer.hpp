// Writes of the host to the memories of several chips.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/board/board_state.hpp"
#include "emulator/board/pass_builder.hpp"

namespace gdr {

/// Chips with equal memories stay equal and share one copy. So do those that are equal after this
/// write, if the last one was for the same chips: where writes for one chip alternate with those
/// for all, a shared copy would have to be separated each time.
class MemoryWriter {
 public:
  explicit MemoryWriter(BoardState& board) : board_(board) {}

  void begin_list() noexcept { shared_write_ = false; }
  /// Executes a WriteMemory; the write is completed by `passes`.
  void write(PassBuilder& passes, const Command& c, std::span<const std::uint64_t> payload);

 private:
  BoardState& board_;
  std::uint64_t last_chips_ = 0;  ///< chips of the last write, as bits
  bool shared_write_ = false;     ///< whether several chips share the memory of the last write
};

}  // namespace gdr
