#include "emulator/engine/native/rsqrt_idiom.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "emulator/engine/native/idiom.hpp"

namespace gdr::native {
namespace {

/// Half a unit in the last place of a short is 2^-25; a root this good does not add to it.
constexpr double short_error = 0x1p-27;

class Seeker {
 public:
  Seeker(const Segment& segment, Precision precision)
      : s_(segment),
        g_(segment.graph),
        floats_(precision == Precision::Float),
        found_(g_.size()),
        argument_(g_.size(), no_ref) {}

  Segment run();

 private:
  std::vector<Ref> candidates() const;
  void examine(Ref x);
  /// Whether node n is live only where x is not zero.
  bool guarded(std::uint32_t n, Ref x) const;
  bool is_product_of_found(const Node& node) const;
  void find_guards();
  Ref value_at_zero(Graph& to, const Idiom& found, Ref x) const;

  const Segment& s_;
  const Graph& g_;
  bool floats_;
  std::vector<std::optional<Idiom>> found_;
  std::vector<Ref> argument_;
  std::vector<std::optional<Condition>> conditions_;
};

/// Numbers whose bits are used.
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

void Seeker::examine(Ref x) {
  const std::vector<std::uint32_t> cone = cone_of(g_, x);
  const auto idioms = find_idioms(g_, cone);
  for (std::size_t k = 1; k < cone.size(); ++k) {
    if (!idioms[k]) continue;
    found_[cone[k]] = idioms[k];
    argument_[cone[k]] = x;
  }
}

/// Liveness conditions of values within the segment.
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

/// 1 / x where 1 / sqrt(x) is at hand costs one product.
bool Seeker::is_product_of_found(const Node& node) const {
  return node.op == NodeOp::Mul && found_[node_of(node.a)] && found_[node_of(node.b)];
}

/// Whether a number can be -0. A sum is -0 only if both operands are.
bool may_be_minus_zero(const Graph& g, Ref r, int depth = 0) {
  constexpr int deepest = 6;
  const Node& node = g[r];
  if (depth == deepest) return true;
  switch (node.op) {
    case NodeOp::Constant:
      return node.bits == std::bit_cast<std::uint64_t>(-0.0);
    case NodeOp::Add:
      return may_be_minus_zero(g, node.a, depth + 1) && may_be_minus_zero(g, node.b, depth + 1);
    case NodeOp::Mul:
      return node.a != node.b;
    default:
      return true;
  }
}

/// The program's value at zero, which may be infinite. Floats scale it to the end of their range,
/// so that derived values stay finite.
Ref Seeker::value_at_zero(Graph& to, const Idiom& found, Ref x) const {
  double value = found.at_zero;
  if (floats_) value *= found.op == NodeOp::Recip ? 0x1p-896 : 0x1p-448;
  if (found.op == NodeOp::Rsqrt || !may_be_minus_zero(to, x)) return to.number(value);
  // With the sign of the zero: the estimate is infinite there.
  Ref made = to.op(NodeOp::RecipEstimate, Kind::Number, x);
  if (const double most = std::abs(value); std::isfinite(most)) {
    made = to.op(NodeOp::Max, Kind::Number, to.number(-most), made);
    made = to.op(NodeOp::Min, Kind::Number, to.number(most), made);
  }
  return value > 0 ? made : to.op(NodeOp::Sub, Kind::Number, to.number(0), made);
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
    const Idiom& found = *found_[n];
    const bool is_short = node.detail == short_result && node.op != NodeOp::Fma;
    const bool coarse = found.error > short_error || is_short;
    const Ref x = copy(argument_[n]);
    const Ref root = g.add({found.op, Kind::Number,
                            static_cast<std::uint8_t>(coarse ? Accuracy::Short : Accuracy::Double),
                            x, no_ref, no_ref, std::bit_cast<std::uint64_t>(found.scale)});
    if (guarded(n, argument_[n]) || std::isnan(found.at_zero)) return root;
    return g.select(g.op(NodeOp::IsZero, Kind::Mask, x), value_at_zero(g, found, x), root);
  });
}

}  // namespace

Segment replace_rsqrt_idioms(const Segment& segment, Precision precision) {
  return Seeker(segment, precision).run();
}

}  // namespace gdr::native
