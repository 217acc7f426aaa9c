#include "emulator/engine/native/roots.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace gdr::native {
namespace {

/// Coarser agreement is not taken for a root: it could be anything.
constexpr double largest_error = 1e-3;
/// Half a unit in the last place of a short is 2^-25; a root this good does not add to it.
constexpr double short_error = 0x1p-27;
constexpr std::size_t mantissas = 12, exponents = 12;

/// Numbers over both parities of the exponent, and far from 1 both ways.
std::array<double, mantissas * exponents> sample_points() {
  std::array<double, mantissas * exponents> points{};
  for (std::size_t e = 0; e < exponents; ++e) {
    const int exponent = static_cast<int>(e) * 37 - 203;
    for (std::size_t m = 0; m < mantissas; ++m) {
      const double mantissa = 1 + (static_cast<double>(m) + 0.37) / mantissas;
      points[e * mantissas + m] = std::ldexp(mantissa, exponent);
    }
  }
  return points;
}

/// What is found: value = scale / sqrt(x) or scale / x, to this relative error.
struct Found {
  NodeOp op;
  double scale;
  double error;
};

/// Ranges of value * sqrt(x) and value * x over the samples.
struct Range {
  double least = INFINITY, most = -INFINITY;
  bool finite = true;
  void add(double value) {
    if (!std::isfinite(value)) finite = false;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double centre() const { return (least + most) / 2; }
  double spread() const {
    if (!finite || centre() == 0) return INFINITY;
    return (most - least) / 2 / std::abs(centre());
  }
};

class Seeker {
 public:
  explicit Seeker(const Segment& segment)
      : s_(segment), g_(segment.graph), found_(g_.size()), argument_(g_.size(), no_ref) {}

  Segment run();

 private:
  std::vector<Ref> candidates() const;
  void examine(Ref x);
  /// Is the value of node n only of account where x is not zero?
  bool guarded(std::uint32_t n, Ref x) const;
  bool is_product_of_found(const Node& node) const;
  void find_guards();
  double value_at_zero(std::uint32_t n, Ref x) const;

  const Segment& s_;
  const Graph& g_;
  std::vector<std::optional<Found>> found_;
  std::vector<Ref> argument_;
  std::vector<std::optional<Condition>> conditions_;
};

/// Numbers of which some bits are used.
std::vector<Ref> Seeker::candidates() const {
  std::vector<Ref> list;
  const std::vector<bool> needed = needed_nodes(s_);
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    const Node& node = g_[ref_to(n)];
    if (!needed[n] || node.op != NodeOp::AsBits) continue;
    const Node& number = g_[node.a];
    const Ref x = number.op == NodeOp::Round ? number.a : node.a;
    if (std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
  }
  return list;
}

/// Nodes made of x and constants, by index; x itself first.
std::vector<std::uint32_t> cone_of(const Graph& g, Ref x) {
  std::vector<bool> inside(g.size(), false);
  inside[node_of(x)] = true;
  std::vector<std::uint32_t> cone{node_of(x)};
  for (std::uint32_t n = node_of(x) + 1; n < g.size(); ++n) {
    const Node& node = g[ref_to(n)];
    if (is_leaf(node.op) || node.kind == Kind::Mask || node.op == NodeOp::Select) continue;
    bool all = true;
    bool any = false;
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r == no_ref) continue;
      any = any || inside[node_of(r)];
      all = all && (inside[node_of(r)] || g.is_constant(r));
    }
    if (!all || !any) continue;
    inside[n] = true;
    cone.push_back(n);
  }
  return cone;
}

/// The bits of every node of a cone at one value of x.
void evaluate_cone(const Graph& g, const std::vector<std::uint32_t>& cone, double x,
                   std::vector<std::uint64_t>& bits) {
  bits[cone[0]] = std::bit_cast<std::uint64_t>(x);
  for (std::size_t k = 1; k < cone.size(); ++k) {
    const Node& node = g[ref_to(cone[k])];
    const auto value = [&](Ref r) -> std::uint64_t {
      if (r == no_ref) return 0;
      return g.is_constant(r) ? g[r].bits : bits[node_of(r)];
    };
    bits[cone[k]] = evaluate(node, value(node.a), value(node.b), value(node.c));
  }
}

void Seeker::examine(Ref x) {
  const std::vector<std::uint32_t> cone = cone_of(g_, x);
  static const auto points = sample_points();
  std::vector<std::uint64_t> bits(g_.size());
  std::vector<Range> square_roots(cone.size()), reciprocals(cone.size());
  for (const double point : points) {
    evaluate_cone(g_, cone, point, bits);
    const double root = std::sqrt(point);
    for (std::size_t k = 1; k < cone.size(); ++k) {
      const auto value = std::bit_cast<double>(bits[cone[k]]);
      square_roots[k].add(value * root);
      reciprocals[k].add(value * point);
    }
  }
  for (std::size_t k = 1; k < cone.size(); ++k) {
    const Node& node = g_[ref_to(cone[k])];
    if (node.kind != Kind::Number || node.op == NodeOp::AsNumber) continue;
    for (const auto& [op, range] :
         {std::pair(NodeOp::Rsqrt, square_roots[k]), std::pair(NodeOp::Recip, reciprocals[k])}) {
      if (range.spread() > largest_error) continue;
      found_[cone[k]] = Found{op, range.centre(), range.spread()};
      argument_[cone[k]] = x;
    }
  }
}

/// Conditions under which values count, within the segment.
void Seeker::find_guards() {
  conditions_.resize(g_.size());
  const auto meet = [&](Ref r, const Condition& condition) {
    auto& known = conditions_[node_of(r)];
    if (!known) {
      known = condition;
      return;
    }
    Condition both;
    std::set_intersection(known->begin(), known->end(), condition.begin(), condition.end(),
                          std::back_inserter(both));
    known = std::move(both);
  };
  for (const Store& store : s_.stores) meet(store.value, {});
  for (std::uint32_t n = static_cast<std::uint32_t>(g_.size()); n-- > 0;) {
    if (!conditions_[n]) continue;
    const Node& node = g_[ref_to(n)];
    const Condition here = *conditions_[n];
    if (node.op == NodeOp::Select) {
      meet(node.a, here);
      Condition yes = here;
      assume(g_, node.a, yes);
      meet(node.b, yes);
      Condition no = here;
      assume(g_, complement(node.a), no);
      meet(node.c, no);
      continue;
    }
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) meet(r, here);
    }
  }
}

bool Seeker::guarded(std::uint32_t n, Ref x) const {
  if (!conditions_[n]) return true;
  return std::any_of(conditions_[n]->begin(), conditions_[n]->end(), [&](Ref literal) {
    const Node& mask = g_[literal];
    return mask.op == NodeOp::IsZero && negated(literal) && mask.a == x;
  });
}

double Seeker::value_at_zero(std::uint32_t n, Ref x) const {
  std::vector<std::uint64_t> bits(g_.size());
  evaluate_cone(g_, cone_of(g_, x), 0.0, bits);
  return std::bit_cast<double>(bits[n]);
}

/// 1 / x where 1 / sqrt(x) is at hand costs one product.
bool Seeker::is_product_of_found(const Node& node) const {
  return node.op == NodeOp::Mul && found_[node_of(node.a)] && found_[node_of(node.b)];
}

Segment Seeker::run() {
  for (const Ref x : candidates()) examine(x);
  if (std::none_of(found_.begin(), found_.end(), [](const auto& f) { return f.has_value(); })) {
    return s_;
  }
  find_guards();
  return rewritten(s_, [&](Graph& g, Ref old, const auto& copy) {
    const std::uint32_t n = node_of(old);
    const Node& node = g_[old];
    if (!found_[n] || is_product_of_found(node)) {
      return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
    }
    const Found& found = *found_[n];
    const bool is_short = node.detail == short_result && node.op != NodeOp::Fma;
    const bool coarse = found.error > short_error || is_short;
    const Ref x = copy(argument_[n]);
    const Ref root = g.add({found.op, Kind::Number,
                            static_cast<std::uint8_t>(coarse ? Accuracy::Short : Accuracy::Double),
                            x, no_ref, no_ref, std::bit_cast<std::uint64_t>(found.scale)});
    const double at_zero = value_at_zero(n, argument_[n]);
    if (guarded(n, argument_[n]) || !std::isfinite(at_zero)) return root;
    return g.select(g.op(NodeOp::IsZero, Kind::Mask, x), g.number(at_zero), root);
  });
}

}  // namespace

Segment with_roots(const Segment& segment) { return Seeker(segment).run(); }

}  // namespace gdr::native
