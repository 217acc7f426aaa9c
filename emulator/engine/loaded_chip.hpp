// A chip with the program that was loaded into it. Its state is made when somebody looks at it.
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

/// Loading a program clears a chip and runs section Init, and parameters go to all PEs: tens of
/// megabytes for a call that may need none of it, where the engine works on targets directly. So
/// all that is put off until `state` is asked for, and so may be what an engine does to the state.
class LoadedChip {
 public:
  explicit LoadedChip(const Geometry& geometry) : geometry_(geometry) {}

  /// All memories zero, all masks clear, and Init was run. Both arguments live as long as they are
  /// loaded.
  void load(const LoadedProgram& program, const Executable& executable);
  /// Parameter number `variable`, for all PEs: `words` of its record.
  void set_param(std::uint32_t variable, std::vector<std::uint64_t> words);

  /// The state, with all that was put off done. Not for several threads at a time, unless it was
  /// asked for since the last load, set_param and put_off.
  ChipState& state();
  /// `work` is done on the state before anybody sees it, after all that was put off before but for
  /// the work of an earlier call, which it takes the place of. A load makes it void. Whoever does
  /// this lives as long as the program is loaded.
  void put_off(std::function<void(ChipState&)> work) { work_ = std::move(work); }
  /// Counts loads and how often `state` was asked for: what is known of the words that programs and
  /// their targets left in it is good until this changes.
  std::uint64_t looks() const noexcept { return looks_; }
  /// Parameters by number; none where nobody set them, which leaves what Init made of them.
  const std::map<std::uint32_t, std::vector<std::uint64_t>>& params() const noexcept {
    return params_;
  }

 private:
  Geometry geometry_;
  std::optional<ChipState> state_;
  bool clean_ = true;  ///< `state_` is as make_chip leaves it
  const LoadedProgram* program_ = nullptr;
  const Executable* executable_ = nullptr;
  bool init_pending_ = false;
  std::map<std::uint32_t, std::vector<std::uint64_t>> params_;
  std::vector<std::uint32_t> params_pending_;
  std::function<void(ChipState&)> work_;
  std::uint64_t looks_ = 0;
};

/// The state of a block as loading a program and setting parameters leave it: Init, then `params`.
void initialise_blocks(ChipState& chip, const LoadedProgram& program, const Executable& executable);

}  // namespace gdr
