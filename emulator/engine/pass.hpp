// A pass: the unit of work that a board delegates to an engine. It writes targets to the PEs, runs
// the loop over the j-items in the memories and reads results, on all chips.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/engine/loaded_chip.hpp"
#include "emulator/port/loaded_program.hpp"
#include "emulator/port/memory.hpp"

namespace gdr {

/// Consecutive target slots of a chip.
struct TargetSlots {
  ChipPartition partition{};
  std::uint64_t first = 0, count = 0;
};

/// Targets for the same slots of some chips: `records` of the link, one for each slot.
struct TargetWrite {
  std::uint64_t chips = 0;  ///< bit c: chip c
  TargetSlots slots;
  const std::uint64_t* records = nullptr;
};

/// Results of some slots, to Pass::results from `offset` on.
struct ResultRead {
  std::uint64_t chips = 0;
  TargetSlots slots;
  std::size_t offset = 0;
  bool joined = false;  ///< reduced by the network over blocks, or over chips
  bool raw = false;     ///< words of the network, not converted; always joined
};

/// The loop over the j-items that stand at one address of some chips' memories.
struct PassRun {
  std::uint64_t chips = 0;
  LoopPlan plan;
  std::uint32_t flags = 0;           ///< RunFlags
  std::uint64_t address = 0;         ///< memory word address of the first j-item
  std::uint64_t output_address = 0;  ///< memory word address of output items
  std::size_t output_offset = 0;     ///< offset of output items in the results, with `run_return`
  std::uint64_t targets = 0;         ///< valid slots of a chip; 0: PassChip::targets
};

/// One chip of the board.
struct PassChip {
  LoadedChip& chip;
  BoardMemory& memory;
  std::uint64_t targets = 0;  ///< number of slots with targets
};

/// Writes come first, then the runs one after the other, then reads. All arguments have been
/// checked.
struct Pass {
  std::span<const PassChip> chips;  ///< all of the board
  std::span<const TargetWrite> writes;
  std::span<const PassRun> runs;
  std::span<const ResultRead> reads;
  std::uint64_t* results = nullptr;
  unsigned threads = 0;  ///< requested by the user; 0: one for each core
};

/// Executes passes of one program on one board. Belongs to one thread at a time; it owns its caches
/// (converted j-items, buffers).
class PassRunner {
 public:
  virtual ~PassRunner() = default;
  virtual void run(const Pass& pass) = 0;
  /// Invalidates cached knowledge of the blocks' contents after external writes.
  virtual void invalidate_chips() noexcept {}
};

}  // namespace gdr
