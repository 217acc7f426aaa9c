// Fault injection for tests: kind, list and number of faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gdr {

enum class FaultKind : std::uint32_t {
  Crash,                ///< "crash": the board's process ends at once
  CrashAfterExecution,  ///< "crash-after-execution": it ends before the completion
  Hang,                 ///< "hang": the board stops responding
  HangWithHeartbeat,    ///< "hang-with-heartbeat": only its heartbeat continues
  Delay,                ///< "delay": waits for `value` milliseconds
  FlipCommand,          ///< "flip-command": flips bit `value` of the commands in transfer
  FlipPayload,          ///< "flip-payload": flips bit `value` of the payload in transfer
  FlipResult,           ///< "flip-result": flips bit `value` of the results in transfer
  WrongResult,          ///< "wrong-result": flips bit `value` before the checksum
  FlipCompletion,       ///< "flip-completion": flips bit `value` of the completion in transfer
  LoseInterrupt,        ///< "lose-interrupt": the interrupt is not raised
  NoMemory,             ///< "no-memory": allocation for the list fails
  NoArea,               ///< "no-area": mapping of host memory area number `list` fails
};

struct Fault {
  FaultKind kind{};
  std::uint64_t list = 1;   ///< first affected descriptor, in the order of fetching
  std::uint64_t value = 0;  ///< parameter of the kind; bit numbers are modulo the transfer length
  std::uint64_t times = 1;  ///< number of consecutive descriptors
};

/// "KIND@LIST[:VALUE[xTIMES]]", for example "flip-result@3:17"; nothing for another format.
std::optional<Fault> parse_fault(std::string_view text);

/// The active fault of a kind, or null.
const Fault* find_fault(const std::vector<Fault>& faults, FaultKind kind,
                        std::uint64_t list) noexcept;

/// The faults of a board, and the number of the current descriptor, at which they are active.
class FaultInjector {
 public:
  explicit FaultInjector(std::vector<Fault> faults) : faults_(std::move(faults)) {}

  /// After a reset of the board.
  void restart() noexcept { descriptor_ = 0; }
  void next_descriptor() noexcept { ++descriptor_; }
  /// The active fault of a kind, or null.
  const Fault* active(FaultKind kind) const noexcept {
    return find_fault(faults_, kind, descriptor_);
  }
  /// Flips a bit if a fault of this kind is active. True if it has changed the words.
  bool flip(FaultKind kind, std::uint64_t* words, std::uint64_t count) const noexcept;

 private:
  std::vector<Fault> faults_;
  std::uint64_t descriptor_ = 0;  ///< number of descriptors of all queues since the reset
};

}  // namespace gdr
