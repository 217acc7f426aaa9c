#include "emulator/engine/native/translate/rare_update.hpp"

#include <algorithm>
#include <vector>

namespace gdr::native {
namespace {

/// With fewer selections an iteration takes hardly longer than the test.
constexpr std::size_t min_selections = 12;
/// The mask is one of the first comparisons: others decide whether a source counts at all.
constexpr unsigned max_rare_candidates = 6;

bool is_condition(const Node& node) {
  return node.kind == Kind::Mask && node.op != NodeOp::Both && !is_leaf(node.op);
}

/// Whether every store gives a carried value back.
bool changes_nothing(const Segment& s, std::span<const std::uint32_t> carried_slots) {
  return std::ranges::all_of(s.stores, [&](const Store& store) {
    const Node& value = s.graph[store.value];
    return value.op == NodeOp::Input && !negated(store.value) &&
           LeafKey::unpack(value.bits).place == carried_slots[store.slot];
  });
}

}  // namespace

Segment test_of_rare_update(const Segment& loop, std::span<const std::uint32_t> carried_slots) {
  const auto is_carried = [](const Store& s) { return s.area == Store::Area::Carried; };
  if (loop.stores.empty() || !std::ranges::all_of(loop.stores, is_carried)) return {};
  const std::vector<bool> needed = needed_nodes(loop);
  std::size_t selections = 0;
  for (std::uint32_t n = 0; n < loop.graph.size(); ++n)
    if (needed[n] && loop.graph[ref_to(n)].op == NodeOp::Select) ++selections;
  if (selections < min_selections) return {};
  unsigned candidates = 0;
  for (std::uint32_t n = 0; n < loop.graph.size() && candidates < max_rare_candidates; ++n) {
    if (!needed[n] || !is_condition(loop.graph[ref_to(n)])) continue;
    ++candidates;
    const Segment without = rewritten(loop, [&](Graph& g, Ref r, const NodeMap&) {
      return node_of(r) == n ? complement(g.always()) : no_ref;
    });
    if (!changes_nothing(without, carried_slots)) continue;
    Segment test = loop;
    test.stores = {{.area = Store::Area::Test, .type = WordType::Mask, .value = ref_to(n)}};
    return cleaned(test);
  }
  return {};
}

}  // namespace gdr::native
