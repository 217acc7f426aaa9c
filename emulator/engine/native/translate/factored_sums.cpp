#include "emulator/engine/native/translate/factored_sums.hpp"

#include <optional>
#include <vector>

namespace gdr::native {
namespace {

/// A product as x (a b).
struct DividedProduct {
  Ref a, b;
};

/// c (x y) divided by x, if nothing else uses the product.
std::optional<DividedProduct> divided(const Graph& g, const std::vector<unsigned>& uses,
                                      Ref product, Ref x) {
  const Node& outer = g[product];
  if (outer.op != NodeOp::Mul || uses[node_of(product)] != 1) return std::nullopt;
  for (const bool second : {false, true}) {
    const Ref c = second ? outer.b : outer.a, rest = second ? outer.a : outer.b;
    const Node& inner = g[rest];
    if (inner.op != NodeOp::Mul) continue;
    if (inner.a == x) return DividedProduct{c, inner.b};
    if (inner.b == x) return DividedProduct{c, inner.a};
  }
  return std::nullopt;
}

}  // namespace

Segment with_factored_sums(const Segment& s) {
  const Graph& old = s.graph;
  const std::vector<unsigned> uses = use_counts(s);
  const std::vector<unsigned> estimated = inherited(old, [&](Ref r) {
    return old[r].op == NodeOp::Rsqrt || old[r].op == NodeOp::Recip ? 1U : 0U;
  });
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& sum = old[r];
    if (!is_sum(sum.op)) return no_ref;
    for (const bool first : {true, false}) {
      const Ref product = first ? sum.a : sum.b, x = first ? sum.b : sum.a;
      if (estimated[node_of(x)] == 0) continue;
      const auto rest = divided(old, uses, product, x);
      if (!rest) continue;
      const bool minus = sum.op == NodeOp::Sub;
      const Ref one = g.number(minus && first ? -1 : 1);
      const std::uint8_t sign = minus && !first ? fma_negate_product : fma_plain;
      const Ref factor =
          g.add({NodeOp::Fma, Kind::Number, sign, copy(rest->a), copy(rest->b), one, 0});
      return g.op(NodeOp::Mul, Kind::Number, copy(x), factor, no_ref, sum.detail);
    }
    return no_ref;
  });
}

}  // namespace gdr::native
