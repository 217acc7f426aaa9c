#include "emulator/engine/native/translate/idiom.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/native/translate/cone.hpp"
#include "emulator/engine/native/translate/idiom_search.hpp"
#include "emulator/engine/native/translate/liveness.hpp"

namespace gdr::native {
namespace {

/// By node: whether a sequence may contain it. Selects, minima and maxima end it.
std::vector<bool> nodes_of_sequences(const Graph& g) {
  std::vector<bool> usable;
  for (const Node& node : g.nodes())
    usable.push_back(!is_leaf(node.op) && node.kind != Kind::Mask && node.op != NodeOp::Select &&
                     node.op != NodeOp::Max && node.op != NodeOp::Min && node.op != NodeOp::Lookup);
  return usable;
}

/// A relative error that is negligible beside half a unit in the last place of a short, 2^-25.
constexpr double short_error = 0x1p-27;

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

class IdiomReplacer {
 public:
  IdiomReplacer(const Segment& segment, Precision precision)
      : s_(segment),
        g_(segment.graph),
        floats_(precision == Precision::Float),
        cones_(g_, nodes_of_sequences(g_)),
        found_(g_.size()),
        argument_(g_.size(), no_ref) {}

  Segment run() {
    for (const Ref x : candidates()) examine(x);
    if (std::ranges::none_of(found_, [](const auto& f) { return f.has_value(); })) {
      return cleaned(s_);
    }
    find_conditions();
    return rewritten(s_, [&](Graph& g, Ref old, const NodeMap& copy) {
      const std::uint32_t n = node_of(old);
      const Node& node = g_[old];
      if (!found_[n] || is_product_of_found(node)) return no_ref;
      const Idiom& found = *found_[n];
      const bool is_short = node.detail == short_result && node.op != NodeOp::Fma;
      const bool coarse = found.error > short_error || is_short;
      const Ref x = copy(argument_[n]);
      const Ref root =
          g.add({found.op, Kind::Number,
                 static_cast<std::uint8_t>(coarse ? Accuracy::Short : Accuracy::Double), x, no_ref,
                 no_ref, std::bit_cast<std::uint64_t>(found.scale)});
      if (guarded(n, argument_[n]) || std::isnan(found.at_zero)) return root;
      return g.select(g.op(NodeOp::IsZero, Kind::Mask, x), value_at_zero(g, found, x), root);
    });
  }

 private:
  /// Numbers whose bits are used.
  std::vector<Ref> candidates() const {
    std::vector<Ref> list;
    const std::vector<bool> needed = needed_nodes(s_);
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const Node& node = g_[ref_to(n)];
      if (!needed[n] || node.op != NodeOp::AsBits) continue;
      const Node& number = g_[node.a];
      const Ref x = number.op == NodeOp::Round ? number.a : node.a;
      if (std::ranges::find(list, x) == list.end()) list.push_back(x);
    }
    return list;
  }

  void examine(Ref x) {
    std::vector<std::uint32_t> cone = cones_.cone_of(std::span(&x, 1), g_.size());
    cone.insert(cone.begin(), node_of(x));
    IdiomsByNode idioms(g_.size());
    find_idioms(g_, cone, idioms);
    for (const std::uint32_t n : cone) {
      if (!idioms[n]) continue;
      found_[n] = idioms[n];
      argument_[n] = x;
    }
  }

  /// Liveness conditions of values within the segment.
  void find_conditions() {
    conditions_.resize(g_.size());
    const auto mark_live = [&](Ref r, const Condition& where) {
      join(conditions_[node_of(r)], where);
    };
    for (const Store& store : s_.stores) mark_live(store.value, {});
    for (std::uint32_t n = static_cast<std::uint32_t>(g_.size()); n-- > 0;) {
      if (conditions_[n]) for_each_live_operand(g_, g_[ref_to(n)], *conditions_[n], mark_live);
    }
  }

  /// Whether node n is live only where x is not zero.
  bool guarded(std::uint32_t n, Ref x) const {
    if (!conditions_[n]) return true;
    return std::any_of(conditions_[n]->begin(), conditions_[n]->end(), [&](Ref literal) {
      const Node& mask = g_[literal];
      return mask.op == NodeOp::IsZero && negated(literal) && mask.a == x;
    });
  }

  /// 1 / x as the square of 1 / sqrt(x): it costs one product.
  bool is_product_of_found(const Node& node) const {
    return node.op == NodeOp::Mul && found_[node_of(node.a)] && found_[node_of(node.b)];
  }

  /// The program's value at zero, which may be infinite. Floats scale it to the end of their range,
  /// so that derived values stay finite.
  Ref value_at_zero(Graph& to, const Idiom& found, Ref x) const {
    double value = found.at_zero;
    if (floats_) value *= found.op == NodeOp::Recip ? 0x1p-896 : 0x1p-448;
    if (found.op == NodeOp::Rsqrt || !may_be_minus_zero(to, x)) return to.number(value);
    // With the sign of the zero: the estimate is infinite there.
    Ref made = to.op(NodeOp::RecipEstimate, Kind::Number, x);
    if (const double limit = std::abs(value); std::isfinite(limit)) {
      made = to.op(NodeOp::Max, Kind::Number, to.number(-limit), made);
      made = to.op(NodeOp::Min, Kind::Number, to.number(limit), made);
    }
    return value > 0 ? made : to.op(NodeOp::Sub, Kind::Number, to.number(0), made);
  }

  const Segment& s_;
  const Graph& g_;
  bool floats_;
  Cones cones_;
  IdiomsByNode found_;
  std::vector<Ref> argument_;     ///< argument of each idiom, by node
  std::vector<Live> conditions_;  ///< condition of each live node
};

}  // namespace

Segment replace_rsqrt_idioms(const Segment& segment, Precision precision) {
  return IdiomReplacer(segment, precision).run();
}

}  // namespace gdr::native
