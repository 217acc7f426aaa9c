#include "emulator/engine/native/translate/constant_factors.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gdr::native {
namespace {

/// Removes x - 0, of an x that is not subnormal because it was computed.
Segment without_zeros(const Segment& s) {
  return rewritten(s, [&](Graph&, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op == NodeOp::Sub && s.graph.is_constant(node.b) && s.graph[node.b].bits == 0) {
      const NodeOp op = s.graph[node.a].op;
      if (is_sum(op) || op == NodeOp::Mul) return copy(node.a);
    }
    return no_ref;
  });
}

/// A constant factor that may move to another factor: only values within 20 powers of two of the
/// ends of the range become zero or infinite by that.
std::optional<double> moderate_constant(const Graph& g, Ref r) {
  if (!g.is_constant(r) || g[r].kind != Kind::Number) return std::nullopt;
  const double value = std::bit_cast<double>(g[r].bits);
  if (!(std::abs(value) >= 0x1p-20 && std::abs(value) <= 0x1p20)) return std::nullopt;
  return value;
}

/// c (x y) as x (c y), where another product of x has the same constant.
Segment with_shared_factors(const Segment& s) {
  const Graph& old = s.graph;
  const std::vector<unsigned> uses = use_counts(s);
  struct Scaled {
    Ref product, constant;
  };
  // c (x y), where nothing else uses x y, and neither x nor y is a constant.
  const auto scaled_product = [&](Ref r) -> std::optional<Scaled> {
    const Node& node = old[r];
    if (node.op != NodeOp::Mul) return std::nullopt;
    const bool second = moderate_constant(old, node.b).has_value();
    if (!second && !moderate_constant(old, node.a)) return std::nullopt;
    const Ref product = second ? node.a : node.b;
    const Node& inner = old[product];
    if (inner.op != NodeOp::Mul || uses[node_of(product)] != 1 || inner.a == inner.b ||
        old.is_constant(inner.a) || old.is_constant(inner.b)) {
      return std::nullopt;
    }
    return Scaled{product, second ? node.b : node.a};
  };
  std::map<std::pair<Ref, Ref>, unsigned> count;  // scaled products by factor and constant
  for (std::uint32_t n = 0; n < old.size(); ++n) {
    const auto scaled = uses[n] != 0 ? scaled_product(ref_to(n)) : std::nullopt;
    if (!scaled) continue;
    for (const Ref factor : old[scaled->product].operands()) ++count[{factor, scaled->constant}];
  }
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const auto scaled = scaled_product(r);
    if (!scaled) return no_ref;
    const Node& product = old[scaled->product];
    for (const bool second : {false, true}) {
      const Ref common = second ? product.b : product.a;
      const Ref own = second ? product.a : product.b;
      if (count.at({common, scaled->constant}) < 2) continue;
      const Ref factor = g.op(NodeOp::Mul, Kind::Number, copy(common), copy(scaled->constant));
      return g.op(NodeOp::Mul, Kind::Number, copy(own), factor, no_ref, old[r].detail);
    }
    return no_ref;
  });
}

/// Joins the constants of nested products: c (x (k y)) as x ((c k) y), where nothing else uses the
/// parts.
Segment with_joined_constants(const Segment& s) {
  const Graph& old = s.graph;
  const std::vector<unsigned> uses = use_counts(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    // c x, if a constant factor of x can take c; else no_ref.
    const auto scaled_by = [&](const auto& self, double c, Ref x) -> Ref {
      const Node& node = old[x];
      if (node.op != NodeOp::Mul || uses[node_of(x)] != 1) return no_ref;
      for (const bool second : {false, true}) {
        const Ref one = second ? node.b : node.a, other = second ? node.a : node.b;
        Ref scaled = no_ref;
        if (const auto k = moderate_constant(old, one)) {
          const Ref product = g.number(c * *k);
          if (moderate_constant(g, product)) scaled = product;
        } else if (one != other) {
          scaled = self(self, c, one);
        }
        if (scaled == no_ref) continue;
        return g.op(NodeOp::Mul, Kind::Number, scaled, copy(other), no_ref, node.detail);
      }
      return no_ref;
    };
    const Node& node = old[r];
    for (const bool second : {false, true}) {
      if (node.op != NodeOp::Mul) break;
      const auto c = moderate_constant(old, second ? node.b : node.a);
      const Ref scaled = c ? scaled_by(scaled_by, *c, second ? node.a : node.b) : no_ref;
      if (scaled != no_ref) return scaled;
    }
    return no_ref;
  });
}

}  // namespace

Segment simplified(const Segment& segment) {
  return with_joined_constants(with_shared_factors(without_zeros(segment)));
}

}  // namespace gdr::native
