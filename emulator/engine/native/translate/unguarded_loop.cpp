#include "emulator/engine/native/translate/unguarded_loop.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gdr::native {
namespace {

template <typename T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

class Remover {
 public:
  Remover(const Segment& loop, std::span<const std::uint32_t> carried_slots)
      : s_(loop), g_(loop.graph), carried_(carried_slots) {}

  UnguardedLoop run() {
    const std::vector<bool> needed = needed_nodes(s_);
    std::vector<bool> never(g_.size(), false);
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      never[n] = needed[n] && (is_equality(g_[ref_to(n)]) || is_zero_of_positive(g_[ref_to(n)]));
      made_.usable = made_.usable || never[n];
    }
    if (!made_.usable) return {};
    made_.loop = rewritten(s_, [&](Graph& g, Ref r, const NodeMap&) {
      return never[node_of(r)] ? complement(g.always()) : no_ref;
    });
    return std::move(made_);
  }

 private:
  bool is_invariant(const Node& node) const {
    return node.op == NodeOp::Input &&
           std::ranges::find(carried_, LeafKey::unpack(node.bits).place) == carried_.end();
  }

  /// Of a word of the target and one of the source.
  bool is_equality(const Node& node) {
    if (node.op != NodeOp::BitsEqual) return false;
    const bool turned = g_[node.a].op == NodeOp::Source;
    const Node& target = g_[turned ? node.b : node.a];
    const Node& source = g_[turned ? node.a : node.b];
    if (source.op != NodeOp::Source || !is_invariant(target)) return false;
    EqualWords found{LeafKey::unpack(target.bits).place, LeafKey::unpack(source.bits)};
    found.source.delay = 0;
    add_once(made_.equal, found);
    return true;
  }

  bool is_zero_of_positive(const Node& node) {
    std::vector<Ref> leaves;
    if (node.op != NodeOp::IsZero || !positive(node.a, leaves)) return false;
    for (const Ref r : leaves) {
      const LeafKey key = LeafKey::unpack(g_[r].bits);
      if (g_[r].op == NodeOp::Input) {
        add_once(made_.positive_slots, key.place);
      } else {
        add_once(made_.positive_uniforms, key);
      }
    }
    return true;
  }

  /// Whether a number is positive (or NaN) if these inputs and words are. Sums of nonnegative terms
  /// do not round below their largest term; products may underflow.
  bool positive(Ref r, std::vector<Ref>& leaves) const {
    const Node& node = g_[r];
    switch (node.op) {
      case NodeOp::Constant:
        return node.kind == Kind::Number && std::isnormal(std::bit_cast<double>(node.bits)) &&
               std::bit_cast<double>(node.bits) > 0;
      case NodeOp::Input:
      case NodeOp::Uniform:
        if (node.kind != Kind::Number) return false;
        if (node.op == NodeOp::Input && !is_invariant(node)) return false;
        leaves.push_back(r);
        return true;
      case NodeOp::Add:
        return (not_negative(node.a) && positive(node.b, leaves)) ||
               (not_negative(node.b) && positive(node.a, leaves));
      case NodeOp::Fma:
        return node.detail == fma_plain && node.a == node.b && positive(node.c, leaves);
      case NodeOp::Round:
        return positive(node.a, leaves);
      default:
        return false;
    }
  }

  /// A sum of squares and positive terms.
  bool not_negative(Ref r) const {
    const Node& node = g_[r];
    switch (node.op) {
      case NodeOp::Mul:
        return node.a == node.b;
      case NodeOp::Fma:
        return node.detail == fma_plain && node.a == node.b && not_negative(node.c);
      case NodeOp::Add:
        return not_negative(node.a) && not_negative(node.b);
      case NodeOp::Constant:
        return node.kind == Kind::Number && std::bit_cast<double>(node.bits) >= 0;
      case NodeOp::Round:
        return not_negative(node.a);
      default:
        return false;
    }
  }

  const Segment& s_;
  const Graph& g_;
  std::span<const std::uint32_t> carried_;
  UnguardedLoop made_;
};

}  // namespace

UnguardedLoop make_unguarded_loop(const Segment& loop,
                                  std::span<const std::uint32_t> carried_slots) {
  return Remover(loop, carried_slots).run();
}

}  // namespace gdr::native
