// Whether targets can be packed into the lanes of vectors: every lane a target of its own, whatever
// PE and element it would stand in on the chip.
#pragma once

#include <string>
#include <vector>

#include "emulator/engine/native/program.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// On the chip a target stands in one element of one PE, and blocks of PEs are worked on whole.
/// Where no PE knows its place, the sections can as well be run on a block of as many PEs as the
/// targets need; and where all elements compute alike (the plan is folded: `elements` is 1), on one
/// of which every PE is a target in element 0. Few targets then fill vectors, not blocks.
struct PackedPlan {
  bool usable = false;
  std::string reason;     ///< why not
  unsigned elements = 1;  ///< targets of a PE
  /// A word that sections read before they write it, and that is no target's: a constant of section
  /// Init, a parameter, or what nobody looks at. It must be the same in all PEs and elements.
  struct Preset {
    CellRow row;                    ///< of element 0
    std::vector<CellRow> elements;  ///< of the others, where they are folded
  };
  std::vector<Preset> presets;
};

PackedPlan make_packed_plan(const CompiledProgram& compiled, const LoadedProgram& loaded);

}  // namespace gdr::native
