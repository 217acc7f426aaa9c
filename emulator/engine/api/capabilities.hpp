// What engines offer, as data. Callers ask for a capability, not for the name of an engine.
#pragma once

#include <span>
#include <string_view>

#include "gdr/engine_numbers.hpp"

namespace gdr {

/// What an engine offers.
struct Capabilities {
  EngineNumbers numbers = EngineNumbers::Machine;
  /// Executes one PE after the other: for checks.
  bool one_pe_at_a_time = false;
  /// Large passes run on a GPU.
  bool uses_gpu = false;
  /// Inputs are rounded to floats before differences are formed.
  bool rounds_inputs = false;
  /// Products multiply all bits of a factor, also those that the chip truncates.
  bool multiplies_all_bits = false;
  /// Products may be computed from the caller's arrays, in the host's arithmetic, instead of from
  /// the words of a board.
  bool multiplies_arrays = false;
  /// Of a program with a cut-off, pairs that are far beyond it are not computed.
  bool leaves_out_far_pairs = false;

  /// Whether results are the machine's, bit for bit.
  constexpr bool exact() const noexcept { return numbers == EngineNumbers::Machine; }
};

/// The engines of engine_names, in its order.
struct EngineEntry {
  std::string_view name;
  Capabilities capabilities;
};
std::span<const EngineEntry> engine_table() noexcept;

/// Of the engine with this name, to which a device may be added ("gpu:1"); of a name that is not
/// known those of an exact engine without further ones.
Capabilities capabilities_of(std::string_view engine) noexcept;

}  // namespace gdr
