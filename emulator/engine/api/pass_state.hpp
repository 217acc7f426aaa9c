// A pass while it is executed, run by run and block by block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/api/pass.hpp"
#include "emulator/host/divide_up.hpp"

namespace gdr {

/// A pass, its current run, and the states of its chips, which are created when they are needed.
class PassState {
 public:
  PassState(const LoadedProgram& program, const Geometry& geometry, const Pass& pass)
      : program_(program), geometry_(geometry), pass_(pass), states_(pass.chips.size()) {}

  /// Goes on to a run, or to none, with the transfers before and after it.
  void begin(const PassRun* run, std::span<const TargetWrite> writes,
             std::span<const ResultRead> reads) {
    run_ = run;
    writes_ = writes;
    reads_ = reads;
  }

  const LoadedProgram& program() const noexcept { return program_; }
  const Geometry& geometry() const noexcept { return geometry_; }
  const Pass& pass() const noexcept { return pass_; }
  std::span<const TargetWrite> writes() const noexcept { return writes_; }
  std::span<const ResultRead> reads() const noexcept { return reads_; }
  std::size_t chips() const noexcept { return pass_.chips.size(); }

  bool has_run() const noexcept { return run_ != nullptr; }
  const PassRun& run() const noexcept { return *run_; }
  /// Whether the run has all of these RunFlags.
  bool run_has(std::uint32_t flags) const noexcept { return (run_->flags & flags) == flags; }
  /// Valid target slots of a chip in the run, and the number of its blocks that run.
  std::uint64_t targets_of(std::size_t chip) const noexcept;
  std::uint32_t blocks_of(std::size_t chip) const noexcept;

  BoardMemory& memory_of(std::size_t chip) const noexcept { return pass_.chips[chip].memory; }
  /// Valid after `require_state`.
  ChipState& state(std::size_t chip) const noexcept { return *states_[chip]; }
  void require_state(std::size_t chip);
  /// The states of all chips of the run, its writes and its reads.
  void require_states();
  /// The next `require_state` asks the chip again.
  void forget_state(std::size_t chip) noexcept { states_[chip] = nullptr; }

 private:
  const LoadedProgram& program_;
  const Geometry& geometry_;
  const Pass& pass_;
  const PassRun* run_ = nullptr;
  std::span<const TargetWrite> writes_;
  std::span<const ResultRead> reads_;
  std::vector<ChipState*> states_;  ///< states by chip; null: not accessed yet
};

}  // namespace gdr
