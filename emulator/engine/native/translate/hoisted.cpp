#include "emulator/engine/native/translate/hoisted.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gdr::native {
namespace {

/// By node: whether it depends on words that the loop does not change alone.
std::vector<bool> invariant_nodes(const Graph& g, std::span<const std::uint32_t> carried_slots) {
  std::vector<bool> invariant(g.size(), false);
  for (std::uint32_t n = 0; n < g.size(); ++n) {
    const Node& node = g[ref_to(n)];
    if (node.op == NodeOp::Source || node.op == NodeOp::Lookup || node.op == NodeOp::Append)
      continue;
    const bool carried =
        node.op == NodeOp::Input &&
        std::ranges::find(carried_slots, LeafKey::unpack(node.bits).place) != carried_slots.end();
    invariant[n] = !carried && std::ranges::all_of(node.operands(), [&](Ref r) {
      return bool{invariant[node_of(r)]};
    });
  }
  return invariant;
}

/// How many operations a value takes.
std::ptrdiff_t operations_of(const Graph& g, Ref value) {
  std::vector<bool> marked(g.size(), false);
  marked[node_of(value)] = true;
  marked = with_operands(g, std::move(marked));
  std::ptrdiff_t count = 0;
  for (std::uint32_t n = 0; n < g.size(); ++n)
    if (marked[n] && !is_leaf(g[ref_to(n)].op)) ++count;
  return count;
}

/// Numbers that other operations, or stores, take from the invariant part of a loop.
std::vector<Ref> taken_values(const Segment& loop, const std::vector<bool>& invariant) {
  constexpr std::ptrdiff_t few = 3;
  const Graph& g = loop.graph;
  const std::vector<bool> needed = needed_nodes(loop);
  std::vector<bool> used(g.size(), false);
  for (const Store& store : loop.stores) used[node_of(store.value)] = true;
  for (std::uint32_t n = 0; n < g.size(); ++n)
    if (needed[n] && !invariant[n])
      for (const Ref r : g[ref_to(n)].operands()) used[node_of(r)] = true;
  std::vector<Ref> values;
  for (std::uint32_t n = 0; n < g.size(); ++n) {
    const Node& node = g[ref_to(n)];
    if (used[n] && invariant[n] && !is_leaf(node.op) && node.kind == Kind::Number &&
        operations_of(g, ref_to(n)) > few)
      values.push_back(ref_to(n));
  }
  return values;
}

}  // namespace

std::uint32_t hoist(Segment& first, Segment& loop, std::span<const std::uint32_t> carried_slots,
                    std::uint32_t total, std::uint32_t input) {
  const std::vector<Ref> values = taken_values(loop, invariant_nodes(loop.graph, carried_slots));
  if (values.empty()) return 0;
  std::vector<bool> wanted(loop.graph.size(), false);
  for (const Ref value : values) wanted[node_of(value)] = true;
  const NodeMap copy = copy_graph(loop.graph, first.graph, with_operands(loop.graph, wanted),
                                  [](Graph&, Ref, const NodeMap&) { return no_ref; });
  for (const Ref value : values)
    first.stores.push_back({Store::Area::Total, total++, WordType::Long, copy(value)});
  loop = rewritten(loop, [&](Graph& g, Ref r, const NodeMap&) {
    const auto found = std::ranges::find(values, r);
    if (found == values.end()) return no_ref;
    const auto number = static_cast<std::uint32_t>(found - values.begin());
    return g.leaf(NodeOp::Input, {WordType::Long, input + number, 0});
  });
  return static_cast<std::uint32_t>(values.size());
}

}  // namespace gdr::native
