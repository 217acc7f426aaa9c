// Faults that tests ask for: what goes wrong, at which list, how often.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gdr {

enum class FaultKind : std::uint32_t {
  Die,             ///< the board's process ends at once
  DieLater,        ///< the same after the list was executed, before anybody hears of it
  Stick,           ///< nothing happens any more
  Babble,          ///< it shows signs of life, but nothing else happens any more
  Delay,           ///< `value` milliseconds pass first
  FlipCommand,     ///< bit `value` of the commands arrives wrong
  FlipPayload,     ///< bit `value` of the payload arrives wrong
  FlipResult,      ///< bit `value` of the results leaves wrong
  WrongResult,     ///< bit `value` of the results is wrong, and its checksum is of that
  FlipCompletion,  ///< bit `value` of the completion leaves wrong
  LoseInterrupt,   ///< the host is not told
  NoMemory,        ///< the board has no memory for the list
  NoArea,          ///< area number `list` of host memory cannot be had
};

struct Fault {
  FaultKind kind{};
  std::uint64_t list = 1;   ///< from this descriptor on: in the order in which they are fetched
  std::uint64_t value = 0;  ///< bits count modulo the length of what is transferred
  std::uint64_t times = 1;  ///< descriptors in a row
};

/// "KIND@LIST[:VALUE[xTIMES]]", for example "flip-result@3:17"; nothing if it reads otherwise.
/// Kinds: die, die-later, stick, babble, delay, flip-command, flip-payload, flip-result,
/// wrong-result, flip-completion, lose-interrupt, no-memory, no-area.
std::optional<Fault> parse_fault(std::string_view text);

/// The fault of a kind that strikes now, if one does.
const Fault* find_fault(const std::vector<Fault>& faults, FaultKind kind,
                        std::uint64_t list) noexcept;

}  // namespace gdr
