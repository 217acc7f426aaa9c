// A chip with the program that was loaded into it. Its state is made when somebody looks at it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr {

/// Loading a program clears a chip and runs section Init, and parameters go to all PEs: tens of
/// megabytes for a call that may need none of it, where the engine works on targets directly. So
/// all that is put off until `state` is asked for.
class LoadedChip {
 public:
  explicit LoadedChip(const Geometry& geometry) : geometry_(geometry) {}

  /// All memories zero, all masks clear, and Init was run. Both arguments live as long as they are
  /// loaded.
  void load(const LoadedProgram& program, const Executable& executable);
  /// Parameter number `variable`, for all PEs: `words` of its record.
  void set_param(std::uint32_t variable, std::vector<std::uint64_t> words);

  /// The state, with all that was put off done. Not for several threads at a time, unless it was
  /// asked for since the last load and set_param.
  ChipState& state();
  /// Parameters by number; none where nobody set them, which leaves what Init made of them.
  const std::map<std::uint32_t, std::vector<std::uint64_t>>& params() const noexcept {
    return params_;
  }
  /// Counts changes of what a PE finds without any run: loads and parameters.
  std::uint64_t version() const noexcept { return version_; }

 private:
  Geometry geometry_;
  std::optional<ChipState> state_;
  bool clean_ = true;  ///< `state_` is as make_chip leaves it
  const LoadedProgram* program_ = nullptr;
  const Executable* executable_ = nullptr;
  bool init_pending_ = false;
  std::map<std::uint32_t, std::vector<std::uint64_t>> params_;
  std::vector<std::uint32_t> params_pending_;
  std::uint64_t version_ = 0;
};

/// The state of a block as loading a program and setting parameters leave it: Init, then `params`.
void initialise_blocks(ChipState& chip, const LoadedProgram& program, const Executable& executable);

}  // namespace gdr
