#include "emulator/engine/native/translate/selects.hpp"

#include <vector>

namespace gdr::native {
namespace {

/// Whether a mask is never set where `other` is not; false if that is not known.
bool implies(const Graph& g, Ref mask, Ref other) {
  if (mask == other) return true;
  if (negated(mask) || g[mask].op != NodeOp::Both) return false;
  return implies(g, g[mask].a, other) || implies(g, g[mask].b, other);
}

/// A value where a mask is set: of a select whose mask is known there, one operand.
Ref known_choice(const Graph& g, Ref mask, Ref value) {
  const Node& node = g[value];
  if (node.op != NodeOp::Select) return value;
  if (implies(g, mask, node.a)) return node.b;
  return implies(g, mask, complement(node.a)) ? node.c : value;
}

}  // namespace

Segment without_decided_selects(const Segment& s) {
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op != NodeOp::Select || node.kind == Kind::Mask) return no_ref;
    const Ref yes = known_choice(s.graph, node.a, node.b);
    const Ref no = known_choice(s.graph, complement(node.a), node.c);
    if (yes == node.b && no == node.c) return no_ref;
    return g.select(copy(node.a), copy(yes), copy(no));
  });
}

Segment with_masked_terms(const Segment& s) {
  const std::vector<unsigned> uses = use_counts(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op == NodeOp::Select && uses[node_of(node.b)] == 1) {
      const Node& sum = s.graph[node.b];
      const bool turned = sum.op == NodeOp::Add && sum.b == node.c;
      if (is_sum(sum.op) && (sum.a == node.c || turned)) {
        const Ref term =
            g.select(copy(node.a), copy(turned ? sum.a : sum.b), g.constant(Kind::Number, 0));
        return g.op(sum.op, Kind::Number, copy(node.c), term, no_ref, sum.detail);
      }
    }
    return no_ref;
  });
}

}  // namespace gdr::native
