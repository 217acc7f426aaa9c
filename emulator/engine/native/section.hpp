// A section of a program as a graph: what it leaves in every cell and mask, in terms of what it
// found there and in the broadcast memory.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/native/cells.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::native {

/// A word that one PE puts into the broadcast memory.
struct PutWord {
  std::uint32_t address = 0;  ///< in shorts, fixed
  Width width = Width::Long;
  std::uint32_t pe = 0;
  CellRef upper = 0, lower = 0;
  Ref enabled = no_ref;
};

/// What a section leaves. Cells that it does not write hold their own input.
struct SectionModel {
  SectionModel(const Geometry& geometry) : map(geometry), cells(graph) {}
  SectionModel(const SectionModel&) = delete;

  CellMap map;
  Graph graph;
  Cells cells;
  std::vector<CellRef> state;  ///< by cell
  std::vector<Ref> masks;      ///< by mask * 4 + element
  std::vector<PutWord> puts;
  std::vector<std::uint32_t> written;  ///< cells that some instruction writes, ascending

  /// The final value of a location, taken as `take` says (see LeafKey).
  Ref final_value(LeafKey key);
};

/// Translates a section. Throws Unsupported, naming the instruction and its line.
void translate(const Program& program, Section section, SectionModel& model);

}  // namespace gdr::native
