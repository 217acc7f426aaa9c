// Predicated liveness of values: predicated code computes in every lane, and a select whose result
// is live only where its mask is set is redundant.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/engine/native/translate/section.hpp"

namespace gdr::native {

/// Masks (or complements) that hold wherever a value is live, ascending. Empty: always live.
using Condition = std::vector<Ref>;

/// Liveness of a location or value: nothing if it is dead, else the masks that hold where it is
/// live.
using Live = std::optional<Condition>;

/// Live-out cells and masks of a section, for other sections, later runs and the host. Conditions
/// name masks by their place * 2 + complemented.
struct LiveOut {
  explicit LiveOut(const CellMap& map) : cells(map.count), masks(CellMap::masks) {}
  std::vector<Live> cells, masks;
  void mark_cell(std::uint32_t cell) { cells[cell] = Condition{}; }
  /// True if anything changed.
  bool merge(const LiveOut& other);
};

/// A live result of a section: location, interpretation, value and condition.
struct Root {
  LeafKey key;
  Ref value = no_ref;
  Condition condition;
  bool read_by_section = false;  ///< whether some section reads it, not only the host
};

/// A root with a nonzero LeafKey::delay is a part of BM store number LeafKey::place.
enum class BmStorePart : std::uint32_t { None = 0, Word = 1, Upper = 2, Lower = 3, Enabled = 4 };

/// A loop-carried location.
struct Carried {
  Ref input = no_ref;
  Ref next = no_ref;
};

/// Live values of a section and their conditions.
struct Liveness {
  std::vector<Root> roots;
  std::vector<Carried> carried;  ///< carried locations of a loop
  std::vector<Live> of_node;
};

/// Backward analysis from the live-out set. With `loop`, loop-carried values are live, too. Throws
/// Unsupported if a live value cannot be represented.
Liveness analyse_liveness(SectionModel& model, const LiveOut& needs, bool loop);

/// Marks the roots that other sections read.
void mark_read_by_sections(const LiveOut& needs_of_sections, Liveness& liveness);

/// Makes a value live under another condition, too: their common masks remain. True if anything
/// changed.
bool join(Live& live, const Condition& condition);

/// A condition with one more mask that holds, and its implications.
Condition assuming(const Graph& graph, Ref mask, Condition condition);

/// Calls `work(operand, condition)` for the operands of a live node.
template <typename Work>
void for_each_live_operand(const Graph& graph, const Node& node, const Condition& live, Work work) {
  if (node.op == NodeOp::Append) {
    work(node.a, live);
    work(node.b, assuming(graph, node.a, live));
    return;
  }
  if (node.op != NodeOp::Select) {
    for (const Ref r : node.operands()) work(r, live);
    return;
  }
  work(node.a, live);
  work(node.b, assuming(graph, node.a, live));
  work(node.c, assuming(graph, complement(node.a), live));
}

/// The only live side of a select under the condition; else no_ref.
Ref decided(const Node& select, const Condition& condition);

/// Live-in cells and masks of the section.
LiveOut live_in(const SectionModel& model, const Liveness& liveness);

}  // namespace gdr::native
