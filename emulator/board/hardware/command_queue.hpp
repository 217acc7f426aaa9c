// A queue of descriptors: the board's, whose lists address all chips, or that of one chip's control
// processor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/board/hardware/descriptor.hpp"
#include "emulator/board/hardware/registers.hpp"

namespace gdr {

/// Registers and progress of a queue. Lists of different queues are ordered only by the host, which
/// waits for completions.
struct CommandQueue {
  std::optional<unsigned> chip;  ///< owner; none: the board
  std::uint64_t chips = 0;       ///< bit c: its lists may name chip c
  Register ring_base = Register::RingBase, ring_entries = Register::RingEntries;
  Register doorbell = Register::Doorbell, head = Register::Head;

  std::uint64_t base = 0, entries = 0;  ///< ring at the first doorbell
  std::uint64_t sequence = 0;           ///< sequence number of the current or last descriptor
  bool failed = false;                  ///< the ring is invalid
  std::vector<std::uint64_t> results;   ///< results of the last executed list, for Resend
  std::uint64_t results_of = 0;         ///< its sequence number
  std::vector<Completion> completions;  ///< the last retained_completions, by sequence number

  /// The retained completion of a sequence number.
  Completion& completion(std::uint64_t number) {
    if (completions.empty()) completions.resize(retained_completions);
    return completions[number % retained_completions];
  }
};

/// The queues of a board: its own, then one for each chip.
inline std::vector<CommandQueue> make_queues(unsigned chips) {
  std::vector<CommandQueue> queues(1);
  queues[0].chips = chips >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << chips) - 1;
  for (unsigned c = 0; c < chips; ++c) {
    CommandQueue& queue = queues.emplace_back();
    queue.chip = c;
    queue.chips = std::uint64_t{1} << c;
    queue.ring_base = of_chip(Register::ChipRingBase, c);
    queue.ring_entries = of_chip(Register::ChipRingEntries, c);
    queue.doorbell = of_chip(Register::ChipDoorbell, c);
    queue.head = of_chip(Register::ChipHead, c);
  }
  return queues;
}

}  // namespace gdr
