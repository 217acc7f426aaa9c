// A queue of descriptors: the board's, whose lists speak to all chips, or that of one chip's
// control processor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/board/hardware/descriptor.hpp"
#include "emulator/board/hardware/registers.hpp"

namespace gdr {

/// Its registers, and how far it is. Nothing orders the lists of one queue and those of another but
/// the host, which waits for completions.
struct CommandQueue {
  std::optional<unsigned> chip;  ///< whose queue it is; none: the board's
  std::uint64_t chips = 0;       ///< bit c: its lists may name chip c
  Register ring_base = Register::RingBase, ring_entries = Register::RingEntries;
  Register doorbell = Register::Doorbell, head = Register::Head;

  std::uint64_t base = 0, entries = 0;  ///< of the ring, as they were at the first doorbell
  std::uint64_t sequence = 0;           ///< of the descriptor in work, or the last one
  bool failed = false;                  ///< the ring makes no sense
  std::vector<std::uint64_t> results;   ///< of the last list that was executed, for Resend
  std::uint64_t results_of = 0;         ///< its sequence number
  std::vector<Completion> completions;  ///< the last completions_held, by sequence number

  /// The completion that is kept for a sequence number.
  Completion& completion(std::uint64_t number) {
    if (completions.empty()) completions.resize(completions_held);
    return completions[number % completions_held];
  }
};

/// The queues of a board with so many chips: its own, then one for each chip.
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
