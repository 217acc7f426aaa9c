#include "emulator/engine/native/translate/multiply_adds.hpp"

#include <vector>

namespace gdr::native {
namespace {

/// Products whose uses are all sums, none of them with itself.
std::vector<bool> fusable_products(const Segment& s) {
  const std::vector<bool> needed = needed_nodes(s);
  std::vector<bool> fusable(s.graph.size(), false);
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    fusable[n] = needed[n] && s.graph[ref_to(n)].op == NodeOp::Mul;
  }
  for (const Store& store : s.stores) fusable[node_of(store.value)] = false;
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = s.graph[ref_to(n)];
    const bool sum = is_sum(node.op);
    for (const Ref r : node.operands()) {
      if (!sum || node.a == node.b) fusable[node_of(r)] = false;
    }
    // A difference of equal products is zero: both have to be rounded.
    if (node.op == NodeOp::Sub && s.graph[node.a].op == NodeOp::Mul &&
        s.graph[node.b].op == NodeOp::Mul) {
      fusable[node_of(node.a)] = fusable[node_of(node.b)] = false;
    }
    // Of two products only the second is fused, so that a chain stays a chain.
    if (sum && fusable[node_of(node.a)] && fusable[node_of(node.b)]) {
      fusable[node_of(node.a)] = false;
    }
  }
  return fusable;
}

}  // namespace

Segment fused(const Segment& s) {
  const std::vector<bool> fusable = fusable_products(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    const bool sum = is_sum(node.op);
    const bool first = sum && fusable[node_of(node.a)];
    const bool second = sum && fusable[node_of(node.b)];
    if (!first && !second) return no_ref;
    const Node& product = s.graph[first ? node.a : node.b];
    std::uint8_t sign = fma_plain;
    if (node.op == NodeOp::Sub) sign = first ? fma_negate_addend : fma_negate_product;
    return g.add({NodeOp::Fma, Kind::Number, sign, copy(product.a), copy(product.b),
                  copy(first ? node.b : node.a), 0});
  });
}

}  // namespace gdr::native
