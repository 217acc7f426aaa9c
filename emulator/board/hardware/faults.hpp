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
  FlipCommand,        ///< bit `value` of the commands arrives wrong
  FlipPayload,        ///< bit `value` of the payload arrives wrong
  FlipResult,         ///< bit `value` of the results leaves wrong
  WrongResult,        ///< bit `value` of the results is wrong, and its checksum is of that
  FlipCompletion,     ///< bit `value` of the completion leaves wrong
  LoseInterrupt,      ///< the interrupt is lost
  NoMemory,           ///< allocation for the list fails
  NoArea,             ///< mapping of host memory area number `list` fails
};

struct Fault {
  FaultKind kind{};
  std::uint64_t list = 1;   ///< first affected descriptor, in the order of fetching
  std::uint64_t value = 0;  ///< bits count modulo the length of what is transferred
  std::uint64_t times = 1;  ///< descriptors in a row
};

/// "KIND@LIST[:VALUE[xTIMES]]", for example "flip-result@3:17"; nothing if it reads otherwise.
/// Kinds: die, die-later, hang, hang-with-heartbeat, delay, flip-command, flip-payload,
/// flip-result, wrong-result, flip-completion, lose-interrupt, no-memory, no-area.
std::optional<Fault> parse_fault(std::string_view text);

/// The active fault of a kind, or null.
const Fault* find_fault(const std::vector<Fault>& faults, FaultKind kind,
                        std::uint64_t list) noexcept;

}  // namespace gdr
