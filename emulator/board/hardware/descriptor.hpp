// Messages between host and board in host memory that the board may access: descriptors in rings,
// and a completion for each. Plain data, little-endian; addresses are bus addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "emulator/board/time_model.hpp"

namespace gdr {

enum class DescriptorKind : std::uint32_t {
  Execute = 1,  ///< fetch a command list, execute it, write its results
  Resend = 2,   ///< repeat the completion of list `subject`, and results of the last list
};

enum DescriptorFlags : std::uint32_t {
  descriptor_resume = 1,        ///< continue after a failed list
  descriptor_reset_counts = 2,  ///< reset the work counters before the list
};

/// 128 bytes. Fields not used by a kind are zero.
struct Descriptor {
  DescriptorKind kind{};
  std::uint32_t flags = 0;
  std::uint64_t sequence = 0;  ///< number in its queue, from 1 after a reset
  std::uint64_t commands = 0;  ///< address of the commands, 80 bytes each
  std::uint64_t command_count = 0;
  std::uint64_t payload = 0;  ///< address of the payload
  std::uint64_t payload_words = 0;
  std::uint64_t data_checksum = 0;  ///< join_checksums(commands, payload)
  std::uint64_t results = 0;        ///< address for results
  std::uint64_t result_words = 0;   ///< capacity for results; Resend: number of words requested
  std::uint64_t completion = 0;     ///< address for the completion
  std::uint64_t subject = 0;        ///< Resend: sequence number of the list, in the same queue
  std::uint64_t first_result = 0;   ///< Resend: first word requested
  std::uint64_t reserved[3] = {};
  std::uint64_t checksum = 0;  ///< checksum of the 15 words before
};
static_assert(sizeof(Descriptor) == 128);

enum class CompletionStatus : std::uint32_t {
  Done = 1,
  Refused = 2,        ///< a command was rejected: see `category`, `command`, `message`
  Skipped = 3,        ///< an earlier list failed, and this one does not resume
  BadDescriptor = 4,  ///< checksum, kind, flags or reserved fields are invalid
  BadSequence = 5,    ///< sequence number not consecutive
  BadAddress = 6,     ///< address outside of the mapped memory
  BadChecksum = 7,    ///< commands or payload corrupt; nothing was executed
  TooLarge = 8,       ///< more commands than the maximum of the board
  NoMemory = 9,       ///< the board ran out of memory
  ResultsHeld = 10,   ///< done, but the results do not fit; Resend fetches them
  NotHeld = 11,       ///< Resend of results that the board no longer holds
  Stopped = 12,       ///< stopped by Register::Stop, before or during execution
};
std::string_view completion_status_text(CompletionStatus status) noexcept;
/// Whether the list was executed completely.
constexpr bool succeeded(CompletionStatus status) noexcept {
  return status == CompletionStatus::Done || status == CompletionStatus::ResultsHeld;
}

/// 1024 bytes. `sequence` is written last, and signals that the rest is valid.
struct Completion {
  std::uint64_t sequence = 0;
  std::uint64_t checksum = 0;  ///< checksum of all other words
  CompletionStatus status{};
  std::uint32_t category = 0;         ///< Refused: ErrorCategory (emulator/include/gdr/error.hpp)
  std::uint64_t command = 0;          ///< Refused: index of the command
  std::uint64_t result_words = 0;     ///< number of words that the list returns
  std::uint64_t result_checksum = 0;  ///< checksum of the words written
  WorkCounts counts;                  ///< work counters since their reset
  std::uint64_t fast_runs = 0, fallback_runs = 0;  ///< EngineStats since the reset
  double compile_seconds = 0;
  std::uint64_t busy_nanoseconds = 0;  ///< execution time of lists since the reset
  char reason[232] = {};
  char message[640] = {};
};
static_assert(sizeof(Completion) == 1024);

constexpr std::uint64_t max_list_commands = std::uint64_t{1} << 20;
constexpr std::uint64_t max_ring_entries = std::uint64_t{1} << 16;
/// Completions that a board retains per queue for Resend: the maximum number of lists in flight.
constexpr std::uint64_t retained_completions = 64;

}  // namespace gdr
