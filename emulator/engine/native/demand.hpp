// Which values are needed, and under which masks: predicated code computes in every lane, and a
// select whose result only counts where its mask is set is no select.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/engine/native/section.hpp"

namespace gdr::native {

/// Masks (or complements) that hold wherever a value counts, ascending. Empty: it always counts.
using Condition = std::vector<Ref>;

/// What other sections, later runs and the host need of a section's result: for each cell and mask
/// nothing (not needed at all), or masks by place * 2 + complemented that hold where it counts.
struct Needs {
  explicit Needs(const CellMap& map) : cells(map.count), masks(CellMap::masks) {}
  std::vector<std::optional<Condition>> cells, masks;
  void need_all();
  void need_cell(std::uint32_t cell) { cells[cell] = Condition{}; }
  /// True if that changed anything.
  bool merge(const Needs& other);
};

/// Something a section leaves: where, how it is taken, its value, where it counts.
struct Root {
  LeafKey key;
  Ref value = no_ref;
  Condition condition;
  bool handed_on = false;  ///< some section reads it, not the host alone
};

/// What a root with a nonzero LeafKey::delay is: a part of put number LeafKey::place.
enum class PutPart : std::uint32_t { None = 0, Word = 1, Upper = 2, Lower = 3, Enabled = 4 };

/// A location that a pass through the body hands on to the next.
struct Carried {
  LeafKey key;
  Ref input = no_ref;
  Ref next = no_ref;
};

/// Everything needed of a section, and under which conditions.
struct Demand {
  std::vector<Root> roots;
  std::vector<Carried> carried;                   ///< only if the section is a loop
  std::vector<std::optional<Condition>> of_node;  ///< nothing: the node is not needed
};

/// Starts from what is needed of the section. With `loop`, values handed on to the next pass count
/// too. Throws Unsupported if something needed cannot be represented.
Demand find_demand(SectionModel& model, const Needs& needs, bool loop);

/// Notes which roots are among what sections need of one another.
void mark_handed_on(const Needs& needs_of_sections, Demand& demand);

/// Adds a mask that holds, and what follows from it, to a condition.
void assume(const Graph& graph, Ref mask, Condition& condition);

/// The side of a select that always counts, where its condition says so; else no_ref.
Ref decided(const Node& select, const Condition& condition);

/// What the section itself needs of those before it.
Needs needs_of(const SectionModel& model, const Demand& demand);

}  // namespace gdr::native
