// A section of a program as a graph: the final value of every cell and mask as a function of the
// initial state and the broadcast memory.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/native/memory_model.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::native {

/// A word that one PE stores to the broadcast memory.
struct BmStore {
  std::uint32_t address = 0;  ///< in shorts, fixed
  Width width = Width::Long;
  std::uint32_t pe = 0;
  CellValue upper = 0, lower = 0;
  Ref enabled = no_ref;
};

/// The final state of a section. Cells that it does not write hold their input.
struct SectionModel {
  SectionModel(const Geometry& geometry) : map(geometry), cells(graph) {}
  SectionModel(const SectionModel&) = delete;

  CellMap map;
  Graph graph;
  MemoryModel cells;
  std::vector<CellValue> state;  ///< by cell
  std::vector<Ref> masks;        ///< by mask * 4 + element
  std::vector<BmStore> bm_stores;
  std::vector<std::uint32_t> written;  ///< cells that some instruction writes, ascending

  /// The final value of a location, interpreted by LeafKey::type.
  Ref final_value(LeafKey key);
};

/// Translates a section. Throws Unsupported, naming the instruction and its line.
void translate(const Program& program, Section section, SectionModel& model);

}  // namespace gdr::native
