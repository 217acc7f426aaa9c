#include "emulator/engine/native/translate/square_roots.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace gdr::native {
namespace {

/// Whether r is x / sqrt(x), and 1 / sqrt(x) has no other use.
const Node* root_of(const Graph& g, const std::vector<unsigned>& uses, const Node& product) {
  if (product.op != NodeOp::Mul) return nullptr;
  for (const bool second : {false, true}) {
    const Ref root = second ? product.b : product.a, x = second ? product.a : product.b;
    if (g[root].op == NodeOp::Rsqrt && g[root].a == x && uses[node_of(root)] == 1) return &g[root];
  }
  return nullptr;
}

/// A sum of squares: never -0.
bool is_sum_of_squares(const Graph& g, Ref r) {
  const Node& node = g[r];
  if (node.op == NodeOp::Mul) return node.a == node.b;
  return node.op == NodeOp::Add && (is_sum_of_squares(g, node.a) || is_sum_of_squares(g, node.b));
}

}  // namespace

Segment with_square_roots(const Segment& s) {
  const std::vector<unsigned> uses = use_counts(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Graph& old = s.graph;
    const Node* node = &old[r];
    // The instruction needs no other value for zero.
    const bool at_zero = node->op == NodeOp::Select && old[node->a].op == NodeOp::IsZero &&
                         !negated(node->a) && old.is_constant(node->b) && old[node->b].bits == 0 &&
                         uses[node_of(node->c)] == 1;
    const Ref zero_of = at_zero ? old[node->a].a : no_ref;
    if (at_zero) node = &old[node->c];
    const Node* const root = root_of(old, uses, *node);
    if (root == nullptr || (at_zero && (zero_of != root->a || !is_sum_of_squares(old, zero_of))))
      return no_ref;
    const Ref made = g.op(NodeOp::Sqrt, Kind::Number, copy(root->a));
    // A program's own scale differs from one by the rounding of its steps.
    const auto scale = std::bit_cast<double>(root->bits);
    return std::abs(scale - 1) < 1e-15 ? made
                                       : g.op(NodeOp::Mul, Kind::Number, made, g.number(scale));
  });
}

bool square_roots_pay(const Segment& with_instructions, Isa isa) {
  const std::vector<bool> needed = needed_nodes(with_instructions);
  std::size_t roots = 0, quotients = 0, others = 0;
  for (std::uint32_t n = 0; n < with_instructions.graph.size(); ++n) {
    const NodeOp op = with_instructions.graph[ref_to(n)].op;
    if (!needed[n] || is_leaf(op) || op == NodeOp::AsBits || op == NodeOp::AsNumber) continue;
    ++(op == NodeOp::Sqrt ? roots : op == NodeOp::Divide ? quotients : others);
  }
  if (isa == Isa::Avx512) return others + quotients >= 20 * roots;
  // Clocks of the divider, and operations of the steps; two others run in a clock.
  constexpr std::size_t of_root = 8, of_quotient = 5, of_steps = 14;
  return 2 * (of_root * roots + of_quotient * quotients) <= others + of_steps * roots;
}

}  // namespace gdr::native
