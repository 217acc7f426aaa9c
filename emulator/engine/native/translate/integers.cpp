#include "emulator/engine/native/translate/integers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "emulator/host/float_mode.hpp"

namespace gdr::native {
namespace {

/// Whether an operand is the constant count of a shift.
bool is_count(const Graph& g, Ref r, std::uint64_t count) {
  return g.is_constant(r) && g[r].bits == count << short_shift;
}

// --- int(x)

/// Shorts of both signs below 2^35.
std::vector<double> sample_shorts() {
  std::vector<double> samples{0, 0x1p-30, 0.5, 0.75, 1 - 0x1p-25};
  std::uint64_t golden = 0;  // multiples of the golden ratio
  for (int exponent = 0; exponent < 35; ++exponent)
    for (const double mantissa : {1.0, 1 + 0x1p-24, 1.5 - 0x1p-24, 1.5, 1.75, 2 - 0x1p-24, 0.0}) {
      golden += 0x9e3779b97f4a7c15U;
      const double some = std::ldexp(static_cast<double>(golden >> 40 | 1U << 24), -24);
      samples.push_back(std::ldexp(mantissa == 0 ? some : mantissa, exponent));
    }
  const std::size_t count = samples.size();
  for (std::size_t n = 0; n < count; ++n) samples.push_back(-samples[n]);
  return samples;
}

/// The values of a node as a function of another one.
class EvaluatedFunction {
 public:
  /// Not `usable` if it depends on anything else.
  EvaluatedFunction(const Graph& g, Ref result, Ref x) : g_(g), result_(result), x_(x) {
    value_.resize(node_of(result) + 1);
    usable_ = add(node_of(result));
  }
  bool usable() const { return usable_; }

  std::uint64_t operator()(double x) {
    value_[node_of(x_)] = std::bit_cast<std::uint64_t>(x);
    for (const std::uint32_t n : nodes_) {
      const Node& node = g_[ref_to(n)];
      value_[n] = evaluate(node, operand(node.a), operand(node.b), operand(node.c));
    }
    return operand(result_);
  }

 private:
  static constexpr std::size_t max_nodes = 64;

  bool add(std::uint32_t n) {
    if (n == node_of(x_) || std::ranges::find(nodes_, n) != nodes_.end()) return true;
    const Node& node = g_[ref_to(n)];
    const bool known = node.op == NodeOp::Constant || !is_leaf(node.op);
    if (!known || node.op == NodeOp::Lookup || node.op == NodeOp::Append) return false;
    for (const Ref r : node.operands())
      if (!add(node_of(r))) return false;
    nodes_.push_back(n);
    return nodes_.size() <= max_nodes;
  }
  std::uint64_t operand(Ref r) const {
    if (r == no_ref) return 0;
    return negated(r) ? ~value_[node_of(r)] : value_[node_of(r)];
  }

  const Graph& g_;
  Ref result_, x_;
  bool usable_ = false;
  std::vector<std::uint32_t> nodes_;  ///< operands first
  std::vector<std::uint64_t> value_;  ///< value of each node
};

/// The number whose sign all bits of an integer are, if it is one.
Ref number_of_sign(const Graph& g, Ref r) {
  if (g[r].op == NodeOp::And) r = g.is_constant(g[r].b) ? g[r].a : g[r].b;
  const Node& shift = g[r];
  if (shift.op != NodeOp::ShiftArith || !is_count(g, shift.b, 35)) return no_ref;
  if (g[shift.a].op != NodeOp::AsBits) return no_ref;
  const Ref number = g[shift.a].a;
  return g[number].op == NodeOp::Round ? g[number].a : number;
}

/// x, if the node is int(x): the sign is applied to the integer of the absolute value last.
Ref truncated_number(const Graph& g, Ref r) {
  const Node& node = g[r];
  if (node.op != NodeOp::IntSub) return no_ref;
  const Ref x = number_of_sign(g, node.b);
  if (x == no_ref || g.is_constant(x)) return no_ref;
  EvaluatedFunction function(g, r, x);
  if (!function.usable()) return no_ref;
  static const std::vector<double> samples = sample_shorts();
  const MachineFloatMode mode;
  const bool truncates = std::ranges::all_of(samples, [&](double sample) {
    return function(sample) == static_cast<std::uint64_t>(static_cast<std::int64_t>(sample))
                                   << short_shift;
  });
  return truncates ? x : no_ref;
}

Segment with_recognised_integers(const Segment& s, Precision precision) {
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Ref x = truncated_number(s.graph, r);
    if (x == no_ref) return no_ref;
    const Ref made = g.op(NodeOp::ToInt, Kind::Bits, copy(x));
    if (precision == Precision::Float) return made;
    return g.op(NodeOp::ShiftLeft, Kind::Bits, made,
                g.constant(Kind::Bits, std::uint64_t{short_shift} << short_shift));
  });
}

// --- uses of integers

/// The integer that becomes a number (NumberOperations::integer_as_number), if the node is one.
Ref integer_of_number(const Graph& g, Ref r) {
  constexpr double base = 0x1.8p52;
  const Node& node = g[r];
  if (node.op != NodeOp::Fma || node.detail != fma_negate_addend) return no_ref;
  if (!g.is_constant(node.b) || g[node.b].bits != std::bit_cast<std::uint64_t>(1.0)) return no_ref;
  if (!g.is_constant(node.c) || g[node.c].bits != std::bit_cast<std::uint64_t>(base)) return no_ref;
  if (g[node.a].op != NodeOp::AsNumber || g[g[node.a].a].op != NodeOp::IntAdd) return no_ref;
  const Node& sum = g[g[node.a].a];
  const bool second = g.is_constant(sum.b);
  const Ref constant = second ? sum.b : sum.a, low = second ? sum.a : sum.b;
  if (!g.is_constant(constant) || g[constant].bits != std::bit_cast<std::uint64_t>(base))
    return no_ref;
  const Node& shift = g[low];
  return shift.op == NodeOp::ShiftArith && is_count(g, shift.b, short_shift) ? shift.a : no_ref;
}

bool is_signed_extreme(NodeOp op) { return op == NodeOp::SignedMin || op == NodeOp::SignedMax; }

class IntegerUses {
 public:
  IntegerUses(const Segment& s, Precision precision)
      : s_(s), old_(s.graph), shifted_(precision == Precision::Double) {}

  Segment run() const {
    return rewritten(s_, [this](Graph& g, Ref r, const NodeMap& copy) {
      const Node& node = old_[r];
      if (const Ref k = integer_of_number(old_, r); k != no_ref) {
        if (has_integer_of_number(k)) return number(g, copy, k);
        return shifted_ ? no_ref : g.op(NodeOp::FromInt, Kind::Number, copy(k));
      }
      if (!shifted_) return no_ref;
      if (node.op == NodeOp::Lookup)
        return g.lookup(last_bits(g, copy, node.a), LeafKey::unpack(node.bits));
      return no_ref;
    });
  }

 private:
  /// The integer of a number.
  Ref number_in(Ref r) const {
    if (old_[r].op == NodeOp::ToInt) return old_[r].a;
    const Node& shift = old_[r];
    const bool made =
        shifted_ && shift.op == NodeOp::ShiftLeft && is_count(old_, shift.b, short_shift);
    return made && old_[shift.a].op == NodeOp::ToInt ? old_[shift.a].a : no_ref;
  }
  /// Whether it is an integer of a number, perhaps limited by constants.
  bool has_integer_of_number(Ref r) const {
    const Node& node = old_[r];
    if (!is_signed_extreme(node.op)) return number_in(r) != no_ref;
    return (old_.is_constant(node.a) && has_integer_of_number(node.b)) ||
           (old_.is_constant(node.b) && has_integer_of_number(node.a));
  }
  /// Such an integer as a number.
  Ref number(Graph& g, const NodeMap& copy, Ref r) const {
    if (const Ref x = number_in(r); x != no_ref)
      return g.op(NodeOp::Truncate, Kind::Number, copy(x));
    const Node& node = old_[r];
    if (old_.is_constant(r)) {
      const auto integer = static_cast<std::int64_t>(node.bits) >> short_shift;
      return g.number(static_cast<double>(integer));
    }
    const bool second = old_.is_constant(node.b);
    return g.op(node.op == NodeOp::SignedMin ? NodeOp::Min : NodeOp::Max, Kind::Number,
                number(g, copy, second ? node.b : node.a),
                number(g, copy, second ? node.a : node.b));
  }

  /// An integer that is not shifted, of which the last bits count.
  Ref last_bits(Graph& g, const NodeMap& copy, Ref r) const {
    const Node& node = old_[r];
    if (has_integer_of_number(r)) return unshifted(g, copy, r);
    switch (node.op) {
      case NodeOp::Constant:
        return g.constant(Kind::Bits, node.bits >> short_shift);
      case NodeOp::And:
      case NodeOp::Or:
      case NodeOp::Xor:
      case NodeOp::IntAdd:
      case NodeOp::IntSub: {
        const Ref a = last_bits(g, copy, node.a);
        return g.op(node.op, Kind::Bits, a, last_bits(g, copy, node.b));
      }
      default:
        return g.op(NodeOp::ShiftRight, Kind::Bits, copy(r),
                    g.constant(Kind::Bits, std::uint64_t{short_shift} << short_shift));
    }
  }
  /// The whole integer of a number, perhaps limited.
  Ref unshifted(Graph& g, const NodeMap& copy, Ref r) const {
    if (const Ref x = number_in(r); x != no_ref) return g.op(NodeOp::ToInt, Kind::Bits, copy(x));
    const Node& node = old_[r];
    if (old_.is_constant(r)) {
      const auto integer = static_cast<std::int64_t>(node.bits) >> short_shift;
      return g.constant(Kind::Bits, static_cast<std::uint64_t>(integer));
    }
    const Ref a = unshifted(g, copy, node.a);
    return g.op(node.op, Kind::Bits, a, unshifted(g, copy, node.b));
  }

  const Segment& s_;
  const Graph& old_;
  bool shifted_;  ///< integers are in the upper bits
};

/// Whether a value is an input to which constants are added, perhaps under masks: few, in all
/// iterations over the sources that a board holds, beside the range of 32 bits.
class Counters {
 public:
  explicit Counters(const Graph& g) : g_(g) {}

  bool is_counter(Ref r) const {
    const Node& node = g_[r];
    switch (node.op) {
      case NodeOp::Input:
        return node.kind == Kind::Bits;
      case NodeOp::IntAdd:
        return (is_counter(node.a) && is_step(node.b)) || (is_step(node.a) && is_counter(node.b));
      case NodeOp::IntSub:
        return is_counter(node.a) && is_step(node.b);
      case NodeOp::Select:
        return is_counter(node.b) && is_counter(node.c);
      default:
        return false;
    }
  }

 private:
  bool is_step(Ref r) const {
    constexpr std::int64_t largest = 16;
    const Node& node = g_[r];
    if (node.op == NodeOp::Select) return is_step(node.b) && is_step(node.c);
    return node.op == NodeOp::Constant &&
           std::abs(static_cast<std::int64_t>(node.bits) >> short_shift) <= largest;
  }

  const Graph& g_;
};

}  // namespace

Segment with_integers(const Segment& segment, Precision precision) {
  return IntegerUses(with_recognised_integers(segment, precision), precision).run();
}

void check_float_integers(const Segment& s) {
  constexpr auto why = "integers are computed with";
  const Graph& g = s.graph;
  const std::vector<bool> needed = needed_nodes(s);
  // Integers that are right in their last 32 bits, or limited to them.
  const auto is_logical = [](NodeOp op) {
    return op == NodeOp::And || op == NodeOp::Or || op == NodeOp::Xor;
  };
  const auto is_sum_of_integers = [](NodeOp op) {
    return op == NodeOp::IntAdd || op == NodeOp::IntSub;
  };
  const Counters counters(g);
  std::vector<bool> computed(g.size(), false);
  const auto is_limited = [&](const auto& self, Ref r) -> bool {
    const Node& node = g[r];
    if (is_signed_extreme(node.op)) return self(self, node.a) && self(self, node.b);
    return is_leaf(node.op) || node.op == NodeOp::Lookup || node.op == NodeOp::ToInt;
  };
  for (std::uint32_t n = 0; n < g.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = g[ref_to(n)];
    const bool of_computed =
        std::ranges::any_of(node.operands(), [&](Ref r) { return bool{computed[node_of(r)]}; });
    const bool may_be = is_sum_of_integers(node.op) || node.op == NodeOp::ToInt ||
                        (is_signed_extreme(node.op) && is_limited(is_limited, ref_to(n))) ||
                        (node.op == NodeOp::ShiftLeft && g.is_constant(node.b));
    computed[n] = may_be || (is_logical(node.op) && of_computed);
    const bool takes_computed = node.op == NodeOp::Lookup || counters.is_counter(ref_to(n));
    if (of_computed && !computed[n] && !takes_computed) throw Unsupported(why);
    const bool plain = is_leaf(node.op) || node.op == NodeOp::Lookup || node.op == NodeOp::Append ||
                       node.op == NodeOp::Select || is_logical(node.op);
    if (node.kind == Kind::Bits && !plain && !computed[n]) throw Unsupported(why);
  }
  for (const Store& store : s.stores)
    if (computed[node_of(store.value)] && !counters.is_counter(store.value)) throw Unsupported(why);
}

}  // namespace gdr::native
