// A queue of descriptors as the board sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/board/hardware/descriptor.hpp"
#include "emulator/board/hardware/registers.hpp"

namespace gdr {

/// Registers and progress of a queue of descriptors: the board's, whose lists address all chips, or
/// that of one chip's control processor. Lists of different queues are ordered only by the host,
/// which waits for completions.
struct CommandQueue {
  std::optional<unsigned> chip;  ///< owner; none: the board
  std::uint64_t chips = 0;       ///< bit c: its lists may name chip c
  QueueRegisters registers = queue_registers({});

  std::uint64_t base = 0, entries = 0;  ///< ring at the first doorbell
  std::uint64_t sequence = 0;           ///< sequence number of the current or last descriptor
  bool failed = false;                  ///< the ring is invalid
  std::vector<std::uint64_t> results;   ///< results of the last executed list, for Resend
  std::uint64_t results_of = 0;         ///< sequence number of that list
  std::vector<Completion> completions;  ///< the last retained_completions, by sequence number

  /// The retained completion of a sequence number.
  Completion& completion(std::uint64_t number) {
    if (completions.empty()) completions.resize(retained_completions);
    return completions[number % retained_completions];
  }
  /// " of chip N" for messages; empty for the board's queue.
  std::string owner_text() const {
    return chip ? " of chip " + std::to_string(*chip) : std::string();
  }
};

/// The queues of a board: its own, then one for each chip.
std::vector<CommandQueue> make_queues(unsigned chips);

}  // namespace gdr
