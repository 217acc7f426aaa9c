// Messages of a session with a board: command lists from the client, one reply to each from the
// server, in the same order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/board/board.hpp"
#include "libgdr/network/protocol.hpp"

namespace gdr::network {

enum ListFlags : std::uint32_t {
  list_reset_counts = 1,  ///< the board's work counters are reset before the list
  list_resume = 2,        ///< the client knows about the failure of an earlier list
  list_wait = 4,          ///< the reply follows the completion of all lists before
};

/// A command list with its payload: commands refer to `payload` only.
struct ListMessage {
  std::uint64_t number = 0;
  std::uint32_t flags = 0;
  CommandList list;
};

enum class ReplyStatus : std::uint32_t {
  Done = 1,
  Failed = 2,     ///< rejected by the board; later lists are skipped until one resumes
  Lost = 3,       ///< the board failed; the session ends
  Cancelled = 4,  ///< stopped on request; later lists are skipped until one resumes
  Skipped = 5,
};

struct Reply {
  std::uint64_t number = 0;
  ReplyStatus status{};
  std::uint32_t category = 0;  ///< Failed: category of the error, as in the library
  WorkCounts counts;
  EngineStats engine;
  double busy_seconds = 0;             ///< execution of lists on the board, all together
  std::string message;                 ///< Failed, Lost: the reason
  std::vector<std::uint64_t> results;  ///< words that the list's reads return
};

/// Copies a list with its borrowed buffers to a message.
Bytes encode_list(std::uint64_t number, std::uint32_t flags, const CommandList& list,
                  std::span<const std::uint64_t> payload_words);
/// Throws Error (Device) for a malformed message.
ListMessage decode_list(const Bytes& message);

Bytes encode_reply(const Reply& reply);
/// Throws Error (Device) for a malformed message.
Reply decode_reply(const Bytes& message);

}  // namespace gdr::network
