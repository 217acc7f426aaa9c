// Fault injection for tests: kind, list and number of faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gdr {

enum class FaultKind : std::uint32_t {
  Die,                ///< the board's process ends at once
  DieLater,           ///< the process ends after execution, before the completion
  Hang,               ///< the board stops responding
  HangWithHeartbeat,  ///< the board stops responding except for its heartbeat
  Delay,              ///< delay of `value` milliseconds
  FlipCommand,        ///< flip bit `value` of the commands in transfer
  FlipPayload,        ///< flip bit `value` of the payload in transfer
  FlipResult,         ///< flip bit `value` of the results in transfer
  WrongResult,        ///< flip bit `value` of the results before the checksum
  FlipCompletion,     ///< flip bit `value` of the completion in transfer
  LoseInterrupt,      ///< the interrupt is lost
  NoMemory,           ///< allocation for the list fails
  NoArea,             ///< mapping of host memory area number `list` fails
};

struct Fault {
  FaultKind kind{};
  std::uint64_t list = 1;   ///< first affected descriptor, in the order of fetching
  std::uint64_t value = 0;  ///< parameter of the kind; bit numbers are modulo the transfer length
  std::uint64_t times = 1;  ///< number of consecutive descriptors
};

/// "KIND@LIST[:VALUE[xTIMES]]", for example "flip-result@3:17"; nothing for another format.
/// Kinds: die, die-later, hang, hang-with-heartbeat, delay, flip-command, flip-payload,
/// flip-result, wrong-result, flip-completion, lose-interrupt, no-memory, no-area.
std::optional<Fault> parse_fault(std::string_view text);

/// The active fault of a kind, or null.
const Fault* find_fault(const std::vector<Fault>& faults, FaultKind kind,
                        std::uint64_t list) noexcept;

}  // namespace gdr
