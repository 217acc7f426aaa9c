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

/// sqrt(x) where x is not zero, of a root that is zero where it is: x / sqrt(x) is not a number
/// there, but nothing overflows or underflows.
Ref root_without_zero(const Graph& g, Ref r) {
  const Node& root = g[r];
  if (root.op != NodeOp::Select || g[root.a].op != NodeOp::IsZero) return no_ref;
  const Ref x = g[root.a].a;
  const Node& product = g[root.c];
  const bool is_root =
      product.op == NodeOp::Mul && ((product.a == x && g[product.b].op == NodeOp::Rsqrt) ||
                                    (product.b == x && g[product.a].op == NodeOp::Rsqrt));
  return is_root ? root.c : no_ref;
}

/// Replaces roots that only count where their argument is not zero: those on the way to one operand
/// of a select, where each value has one use.
class RootsUnderMasks {
 public:
  explicit RootsUnderMasks(const Segment& s)
      : g_(s.graph), uses_(use_counts(s)), without_zero_(g_.size(), no_ref) {
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const Node& node = g_[ref_to(n)];
      if (uses_[n] == 0 || node.op != NodeOp::Select) continue;
      search(node.b, node.a);
      search(node.c, complement(node.a));
    }
  }

  /// What replaces a node; else no_ref.
  Ref operator()(Ref r) const { return without_zero_[node_of(r)]; }

 private:
  void search(Ref value, Ref mask) {
    if (uses_[node_of(value)] != 1) return;
    const Node& node = g_[value];
    const Ref root = root_without_zero(g_, value);
    if (root != no_ref && implies(g_, mask, complement(node.a)))
      without_zero_[node_of(value)] = root;
    for (const Ref r : node.operands()) search(r, mask);
  }

  const Graph& g_;
  std::vector<unsigned> uses_;
  std::vector<Ref> without_zero_;
};

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

Segment without_masked_zeros_of_roots(const Segment& s) {
  const RootsUnderMasks roots(s);
  return rewritten(s, [&](Graph&, Ref r, const NodeMap& copy) {
    const Ref root = roots(r);
    return root == no_ref ? no_ref : copy(root);
  });
}

Segment with_masked_terms(const Segment& s) {
  const std::vector<unsigned> uses = use_counts(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op == NodeOp::Select && uses[node_of(node.b)] == 1) {
      const Node& sum = s.graph[node.b];
      const bool integers = sum.op == NodeOp::IntAdd;
      const bool turned = (sum.op == NodeOp::Add || integers) && sum.b == node.c;
      if ((is_sum(sum.op) || integers) && (sum.a == node.c || turned)) {
        const Ref term =
            g.select(copy(node.a), copy(turned ? sum.a : sum.b), g.constant(node.kind, 0));
        return g.op(sum.op, node.kind, copy(node.c), term, no_ref, sum.detail);
      }
    }
    return no_ref;
  });
}

}  // namespace gdr::native
