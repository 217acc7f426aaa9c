// A pass: the unit of work that a board delegates to an engine. It writes targets to the PEs, runs
// the loop over the j-items in the memories and reads results, on all chips.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/api/params.hpp"
#include "emulator/port/loaded_program.hpp"
#include "emulator/port/memory_writes.hpp"

namespace gdr {

/// Loading a program clears a chip, runs section Init and writes parameters to all PEs: tens of
/// megabytes, which a call may never read if the engine computes on targets directly. So this work
/// is deferred until `state` is called; an engine may defer its own writes, too.
class LoadedChip {
 public:
  explicit LoadedChip(const Geometry& geometry) : geometry_(geometry) {}

  /// All memories zero, all masks clear, and Init was run. Both arguments outlive the load.
  void load(const LoadedProgram& program, const Executable& executable);
  /// Sets parameter number `variable` for all PEs from the words of its record.
  void set_param(std::uint32_t variable, std::span<const std::uint64_t> words);

  /// Sets the parameters that another chip with this program has, and no others.
  void copy_params(const LoadedChip& other);

  /// The state, after all deferred work. Not thread-safe if work was deferred since the last call.
  ChipState& state();
  /// Defers `work` on the state until the next access. Replaces the work of an earlier call; a load
  /// discards it. The caller outlives the loaded program.
  void defer(std::function<void(ChipState&)> work) { work_ = std::move(work); }
  /// Changes with every load and access to the state: knowledge of the state's words is valid until
  /// then.
  std::uint64_t version() const noexcept { return version_; }
  /// Parameters; those not set keep the values of section Init.
  const Params& params() const noexcept { return params_; }

 private:
  Geometry geometry_;
  std::optional<ChipState> state_;
  bool clean_ = true;  ///< `state_` equals the result of make_chip
  const LoadedProgram* program_ = nullptr;
  const Executable* executable_ = nullptr;
  bool init_pending_ = false;
  Params params_;
  std::vector<std::uint32_t> params_pending_;
  std::function<void(ChipState&)> work_;
  std::uint64_t version_ = 0;
};

/// Runs section Init on all blocks.
void initialise_blocks(ChipState& chip, const LoadedProgram& program, const Executable& executable);

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

/// The loop over the j-items at one address of some chips' memories.
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
  std::span<const PassChip> chips;  ///< all chips of the board
  std::span<const TargetWrite> writes;
  std::span<const PassRun> runs;
  std::span<const ResultRead> reads;
  std::uint64_t* results = nullptr;
  unsigned threads = 0;  ///< requested by the user; 0: one for each core
  /// Writes to the memories that the runner completes, for runners that take them; else null.
  MemoryWrites* pending_writes = nullptr;
};

/// Executes passes of one program on one board. Belongs to one thread at a time; it owns its caches
/// (converted j-items, buffers).
class PassRunner {
 public:
  virtual ~PassRunner() = default;
  virtual void run(const Pass& pass) = 0;
  /// Whether `run` completes pending writes, so that threads convert what they have just stored.
  virtual bool takes_pending_writes() const noexcept { return false; }
  /// Executes passes together, if it can: they have the same parameters, and the memories do not
  /// change from one to the next. False: nothing was done, they have to run one by one.
  virtual bool run_together(std::span<const Pass> /*passes*/) { return false; }
  /// Invalidates cached knowledge of the blocks' contents after external writes.
  virtual void invalidate_chips() noexcept {}
};

}  // namespace gdr
