#include "emulator/board/memory_writer.hpp"

#include <bit>
#include <utility>
#include <vector>

namespace gdr {

void MemoryWriter::write(PassBuilder& passes, const Command& c,
                         std::span<const std::uint64_t> payload) {
  passes.flush_run();
  const bool one_chip = std::has_single_bit(c.chips);
  // For the comparisons, and before a memory gets a copy of its own.
  if (!one_chip || shared_write_) passes.memory_writes().finish(board_.threads);
  shared_write_ = false;
  const bool may_join = std::exchange(last_chips_, c.chips) == c.chips;
  const auto will_equal = [&](const BoardMemory& a, const BoardMemory& b) {
    return a.revision() == b.revision() ||
           (may_join && a.equals_except(b, c.address, payload.size()));
  };
  std::uint64_t written = 0;
  for_each_chip(board_, c.chips, [&](std::size_t number, BoardChip& chip) {
    if (takes_part(written, number)) return;
    std::vector<BoardMemory*> equal;
    for_each_chip(board_, c.chips & ~written, [&](std::size_t other, BoardChip& candidate) {
      if (other <= number || !will_equal(candidate.memory, chip.memory)) return;
      written |= std::uint64_t{1} << other;
      candidate.memory.release(c.address, payload.size());
      equal.push_back(&candidate.memory);
    });
    if (shared_write_) passes.memory_writes().finish(board_.threads);
    passes.memory_writes().begin({&chip.memory, c.address, payload}, board_.threads);
    for (BoardMemory* const memory : equal)
      memory->share_chunks(chip.memory, c.address, payload.size());
    shared_write_ = !equal.empty();
  });
}

}  // namespace gdr
