#include "emulator/engine/native/simplify.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace gdr::native {
namespace {

/// x - 0, of an x that is no subnormal number since it was computed.
Segment without_zeros(const Segment& s) {
  return cleaned(rewritten(s, [&](Graph& g, Ref r, const auto& copy) {
    const Node& node = s.graph[r];
    if (node.op == NodeOp::Sub && s.graph.is_constant(node.b) && s.graph[node.b].bits == 0) {
      const NodeOp op = s.graph[node.a].op;
      if (op == NodeOp::Add || op == NodeOp::Sub || op == NodeOp::Mul) return copy(node.a);
    }
    return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
  }));
}

/// A constant factor that may move to another factor: what is zero or infinite then, and was not,
/// is within 20 powers of two of the ends of the range.
std::optional<double> moderate_constant(const Graph& g, Ref r) {
  if (!g.is_constant(r) || g[r].kind != Kind::Number) return std::nullopt;
  const double value = std::bit_cast<double>(g[r].bits);
  if (!(std::abs(value) >= 0x1p-20 && std::abs(value) <= 0x1p20)) return std::nullopt;
  return value;
}

/// Products c (x y), indexed by their factors.
class Factors {
 public:
  explicit Factors(const Segment& s) : s_(s), g_(s.graph), uses_(use_counts(s)) {
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      if (uses_[n] == 0) continue;
      const auto scaled = scaled_product(ref_to(n));
      if (!scaled) continue;
      for (const Ref factor : {g_[scaled->product].a, g_[scaled->product].b})
        ++count_[{factor, scaled->constant}];
    }
  }

  Segment run() const {
    return cleaned(rewritten(s_, [&](Graph& g, Ref r, const auto& copy) {
      const Node& node = g_[r];
      if (const auto scaled = scaled_product(r)) {
        const Node& product = g_[scaled->product];
        for (const bool second : {false, true}) {
          const Ref common = second ? product.b : product.a;
          const Ref own = second ? product.a : product.b;
          if (count_.at({common, scaled->constant}) < 2) continue;
          const Ref factor = g.op(NodeOp::Mul, Kind::Number, copy(common), copy(scaled->constant));
          return g.op(NodeOp::Mul, Kind::Number, copy(own), factor, no_ref, node.detail);
        }
      }
      return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
    }));
  }

 private:
  struct Scaled {
    Ref product, constant;
  };

  /// c (x y), where nothing else uses x y, nor x or y are constants.
  std::optional<Scaled> scaled_product(Ref r) const {
    const Node& node = g_[r];
    if (node.op != NodeOp::Mul) return std::nullopt;
    const bool second = moderate_constant(g_, node.b).has_value();
    if (!second && !moderate_constant(g_, node.a)) return std::nullopt;
    const Ref product = second ? node.a : node.b;
    const Node& inner = g_[product];
    if (inner.op != NodeOp::Mul || uses_[node_of(product)] != 1 || inner.a == inner.b ||
        g_.is_constant(inner.a) || g_.is_constant(inner.b)) {
      return std::nullopt;
    }
    return Scaled{product, second ? node.b : node.a};
  }

  const Segment& s_;
  const Graph& g_;
  std::vector<unsigned> uses_;
  std::map<std::pair<Ref, Ref>, unsigned> count_;  ///< of scaled products, by factor and constant
};

/// Constants of products of products: c (x (k y)) as x ((c k) y), where nothing else uses the
/// parts.
class Constants {
 public:
  explicit Constants(const Segment& s) : s_(s), g_(s.graph), uses_(use_counts(s)) {}

  Segment run() const {
    return cleaned(rewritten(s_, [&](Graph& g, Ref r, const auto& copy) {
      const Node& node = s_.graph[r];
      if (node.op == NodeOp::Mul) {
        for (const bool second : {false, true}) {
          const auto c = moderate_constant(g_, second ? node.b : node.a);
          if (!c) continue;
          const auto scaled = scaled_by(*c, second ? node.a : node.b, g, copy);
          if (scaled) return *scaled;
        }
      }
      return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
    }));
  }

 private:
  /// c r, if a constant factor of r can take c.
  template <typename Copy>
  std::optional<Ref> scaled_by(double c, Ref r, Graph& g, const Copy& copy) const {
    const Node& node = g_[r];
    if (node.op != NodeOp::Mul || uses_[node_of(r)] != 1) return std::nullopt;
    for (const bool second : {false, true}) {
      const Ref one = second ? node.b : node.a, other = second ? node.a : node.b;
      std::optional<Ref> scaled;
      if (const auto k = moderate_constant(g_, one)) {
        const Ref product = g.number(c * *k);
        if (moderate_constant(g, product)) scaled = product;
      } else if (one != other) {
        scaled = scaled_by(c, one, g, copy);
      }
      if (scaled) return g.op(NodeOp::Mul, Kind::Number, *scaled, copy(other), no_ref, node.detail);
    }
    return std::nullopt;
  }

  const Segment& s_;
  const Graph& g_;
  std::vector<unsigned> uses_;
};

}  // namespace

Segment simplified(const Segment& segment) {
  return Constants(Factors(without_zeros(segment)).run()).run();
}

}  // namespace gdr::native
