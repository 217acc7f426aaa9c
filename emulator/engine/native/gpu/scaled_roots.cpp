#include "emulator/engine/native/gpu/scaled_roots.hpp"

namespace gdr::native {

std::optional<ScaledRoot> scaled_root(const Graph& g, const Node& node) {
  if (node.op != NodeOp::Fma || node.detail != 0 || node.kind != Kind::Number) return std::nullopt;
  const Node& zero = g[node.b];
  if (zero.op != NodeOp::Constant || zero.bits != 0) return std::nullopt;
  ScaledRoot r{node.a, no_ref, no_ref, node.c};
  if (g[r.root].op == NodeOp::Mul) {
    r.product = r.root;
    const Node& m = g[r.product];
    const bool first = g[m.a].op == NodeOp::RsqrtEstimate;
    r.root = first ? m.a : m.b;
    r.scale = first ? m.b : m.a;
    if (g[r.scale].op != NodeOp::Constant) return std::nullopt;
  }
  if (g[r.root].op != NodeOp::RsqrtEstimate || g[r.root].a != r.x) return std::nullopt;
  return r;
}

std::vector<bool> without_root_parts(const Graph& g, std::vector<bool> needed) {
  std::vector<unsigned> uses(g.size(), 0), in_roots(g.size(), 0);
  for (std::uint32_t n = 0; n < g.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = g[ref_to(n)];
    for (const Ref r : node.operands()) ++uses[node_of(r)];
    if (const auto root = scaled_root(g, node))
      ++in_roots[node_of(root->product != no_ref ? root->product : root->root)];
  }
  for (std::uint32_t n = static_cast<std::uint32_t>(g.size()); n-- > 0;) {
    if (!needed[n] || in_roots[n] == 0 || in_roots[n] != uses[n]) continue;
    needed[n] = false;
    if (g[ref_to(n)].op == NodeOp::Mul)
      for (const Ref r : g[ref_to(n)].operands())
        if (g[r].op == NodeOp::RsqrtEstimate) ++in_roots[node_of(r)];
  }
  return needed;
}

}  // namespace gdr::native
