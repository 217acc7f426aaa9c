#include "emulator/engine/native/segment.hpp"

namespace gdr::native {

std::vector<bool> needed_nodes(const Segment& segment) {
  std::vector<bool> needed(segment.graph.size(), false);
  for (const Store& store : segment.stores) needed[node_of(store.value)] = true;
  for (std::uint32_t n = static_cast<std::uint32_t>(segment.graph.size()); n-- > 0;) {
    if (!needed[n]) continue;
    const Node& node = segment.graph[ref_to(n)];
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) needed[node_of(r)] = true;
    }
  }
  return needed;
}

std::vector<unsigned> use_counts(const Segment& segment) {
  const std::vector<bool> needed = needed_nodes(segment);
  std::vector<unsigned> counts(segment.graph.size(), 0);
  for (const Store& store : segment.stores) ++counts[node_of(store.value)];
  for (std::uint32_t n = 0; n < segment.graph.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = segment.graph[ref_to(n)];
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) ++counts[node_of(r)];
    }
  }
  return counts;
}

Segment cleaned(const Segment& old) {
  return rewritten(old, [&](Graph& g, Ref r, const auto& copy) {
    const Node& node = old.graph[r];
    return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
  });
}

}  // namespace gdr::native
