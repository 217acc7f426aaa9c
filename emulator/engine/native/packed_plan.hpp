// Analysis for packing targets into the lanes of vectors, independent of their PE and element on
// the chip.
#pragma once

#include <string>
#include <vector>

#include "emulator/engine/native/program.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// On the chip a target has one element of one PE, and whole blocks are processed. If no PE reads
/// its number, the sections can run on a block with exactly as many PEs as the targets need; if all
/// elements compute alike (the plan is folded: `elements` is 1), on a block in which every PE holds
/// one target in element 0. Few targets then fill vectors instead of blocks.
struct PackedPlan {
  bool usable = false;
  std::string reason;     ///< why not
  unsigned elements = 1;  ///< targets of a PE
  /// A word that sections read before they write it and that belongs to no target: a constant of
  /// section Init, a parameter, or unused. It must be equal in all PEs and elements.
  struct Preset {
    CellRow row;                    ///< row of element 0
    std::vector<CellRow> elements;  ///< rows of the others, if folded
  };
  std::vector<Preset> presets;
};

PackedPlan make_packed_plan(const CompiledProgram& compiled, const LoadedProgram& loaded);

}  // namespace gdr::native
