// A section of a program as a graph: the final value of every cell and mask as a function of the
// initial state and the broadcast memory.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/native/translate/memory_model.hpp"
#include "emulator/engine/native/translate/tables.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::native {

/// A word that one PE stores to the broadcast memory.
struct BmStore {
  std::uint32_t address = 0;  ///< fixed address, shorts
  Width width = Width::Long;
  std::uint32_t pe = 0;
  CellValue upper = 0, lower = 0;
  Ref enabled = no_ref;
};

/// A list in local memory, to which a section appends: a counter advances by `stride` and is then
/// the address of the new entry, or `last` if it is larger. Kernels that are compiled from text
/// declare the range of the addresses, in which `last` is no entry
/// (kernels/compiler/ir/machine_ir.hpp).
struct List {
  std::uint32_t counter = 0;  ///< cell of the counter
  unsigned element = 0;
  std::uint32_t stride = 0, first = 0, last = 0;  ///< addresses in local memory, shorts

  /// Whether an append may store to a cell.
  bool holds_entry(const CellMap& map, std::uint32_t cell) const noexcept {
    return cell >= map.local + first && cell <= map.local + last;
  }
};

/// A short that a section stores through T, by values of the section. In a pipelined loop it may be
/// the entry of a list whose counter the previous iteration has advanced.
struct StoreThroughT {
  unsigned element = 0;
  std::uint32_t first = 0, last = 0;  ///< range of the address
  Ref address = no_ref, entry = no_ref, enabled = no_ref;
};

/// The final state of a section. Cells that it does not write hold their input.
struct SectionModel {
  SectionModel(const Geometry& geometry, bool doubles)
      : longs_are_doubles(doubles), map(geometry), cells(graph) {}
  SectionModel(const SectionModel&) = delete;

  bool longs_are_doubles;  ///< Target::longs_are_doubles
  CellMap map;
  unsigned elements = max_elements;  ///< elements of a vector instruction in the program
  Graph graph;
  MemoryModel cells;
  std::vector<CellValue> state;  ///< final value of each cell
  std::vector<Ref> masks;        ///< final value of each mask, by mask * 4 + element
  std::vector<BmStore> bm_stores;
  /// Cells that some instruction writes, ascending; without the counters and entries of lists,
  /// which hold their input here and change with each append.
  std::vector<std::uint32_t> written;
  std::vector<Table> tables;  ///< tables by the number that table_of returns
  std::vector<List> lists;
  std::vector<Ref> appends;  ///< append nodes, in the order of the program
  /// Body: stores that an iteration leaves to the next one; its model has them as appends of the
  /// iteration itself. End: what the last iteration has left.
  std::vector<StoreThroughT> left;

  /// The final value of a location, interpreted by LeafKey::type.
  Ref final_value(LeafKey key);
};

/// Translates a section. Throws Unsupported, naming the instruction and its line.
void translate(const Program& program, Section section, SectionModel& model);

}  // namespace gdr::native
