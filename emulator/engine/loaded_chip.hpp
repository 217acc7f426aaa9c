// A chip and its loaded program. The state is created on first access.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/port/loaded_program.hpp"

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
  void set_param(std::uint32_t variable, std::vector<std::uint64_t> words);

  /// The state, after all deferred work. Not thread-safe if work was deferred since the last call.
  ChipState& state();
  /// Defers `work` on the state until the next access. Replaces the work of an earlier call; a load
  /// discards it. The caller outlives the loaded program.
  void defer(std::function<void(ChipState&)> work) { work_ = std::move(work); }
  /// Changes with every load and access to the state: knowledge of the state's words is valid until
  /// then.
  std::uint64_t version() const noexcept { return version_; }
  /// Parameters by number; those not set keep the values of section Init.
  const std::map<std::uint32_t, std::vector<std::uint64_t>>& params() const noexcept {
    return params_;
  }

 private:
  Geometry geometry_;
  std::optional<ChipState> state_;
  bool clean_ = true;  ///< `state_` equals the result of make_chip
  const LoadedProgram* program_ = nullptr;
  const Executable* executable_ = nullptr;
  bool init_pending_ = false;
  std::map<std::uint32_t, std::vector<std::uint64_t>> params_;
  std::vector<std::uint32_t> params_pending_;
  std::function<void(ChipState&)> work_;
  std::uint64_t version_ = 0;
};

/// Runs section Init on all blocks.
void initialise_blocks(ChipState& chip, const LoadedProgram& program, const Executable& executable);

}  // namespace gdr
