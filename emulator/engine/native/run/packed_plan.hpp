// Whether and how the sections of a program run on packed targets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/translate/integer_sums.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// On the chip a target has one element of one PE, and whole blocks are processed. If no PE reads
/// its number, the sections can run on a block with exactly as many PEs as the targets need; if all
/// elements compute alike (the plan is folded: `elements` is 1), on a block in which every PE holds
/// one target in element 0. Few targets then fill vectors instead of blocks.
struct PackedPlan {
  bool usable = false;
  /// One instance of every kernel works for all elements; otherwise all instances work, also if a
  /// PE has one element.
  bool folded = false;
  unsigned elements = 1;  ///< targets of a PE
  /// Words that sections read before they write them and that belong to no target: constants of
  /// section Init, parameters, or unused. Each must be equal in all PEs and elements.
  /// Rows of element 0 and, if folded, of the others.
  std::vector<std::vector<CellRow>> presets;
  /// By how much an iteration of the loop, or End, changes results that are sums of integers (iadd)
  /// at most. None if that is not known.
  std::optional<IntegerBound> integer_change;
  std::string reason;  ///< why it is not usable
};

PackedPlan make_packed_plan(const CompiledProgram& compiled, const LoadedProgram& loaded);

}  // namespace gdr::native
