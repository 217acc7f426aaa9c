#include "emulator/engine/native/translate/integer_sums.hpp"

#include <algorithm>
#include <map>

namespace gdr::native {
namespace {

using Bound = std::optional<IntegerBound>;

/// Nothing above the integers of a short: such sums wrap around anyway.
Bound limited(IntegerBound x) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 35;
  return x.constant <= limit && x.factor <= limit ? Bound(x) : std::nullopt;
}
Bound larger(Bound a, Bound b) {
  if (!a || !b) return std::nullopt;
  return IntegerBound{std::max(a->constant, b->constant), std::max(a->factor, b->factor)};
}
Bound sum(Bound a, Bound b) {
  if (!a || !b) return std::nullopt;
  return limited({a->constant + b->constant, a->factor + b->factor});
}

std::uint64_t magnitude_of_constant(std::uint64_t bits) {
  const std::int64_t value = static_cast<std::int64_t>(bits) >> short_shift;
  return static_cast<std::uint64_t>(value < 0 ? -value : value);
}

/// Bounds of a graph's integers, each found once.
class Bounds {
 public:
  Bounds(const Graph& graph, std::uint32_t input, const LeafBound& of_leaf)
      : g_(graph), input_(input), of_leaf_(of_leaf) {}

  /// By how much the value differs from the input at most.
  Bound change(Ref r) {
    return known(changes_, r, [&](const Node& node) -> Bound {
      switch (node.op) {
        case NodeOp::Input:
          return LeafKey::unpack(node.bits).place == input_ ? Bound(IntegerBound{}) : std::nullopt;
        case NodeOp::IntAdd: {
          const Bound first = sum(change(node.a), magnitude(node.b));
          return first ? first : sum(change(node.b), magnitude(node.a));
        }
        case NodeOp::IntSub:
          return sum(change(node.a), magnitude(node.b));
        case NodeOp::Select:
          return larger(change(node.b), change(node.c));
        default:
          return std::nullopt;
      }
    });
  }

  Bound magnitude(Ref r) {
    return known(magnitudes_, r, [&](const Node& node) -> Bound {
      switch (node.op) {
        case NodeOp::Constant:
          return limited({magnitude_of_constant(node.bits), 0});
        case NodeOp::Input:
        case NodeOp::Source:
          return of_leaf_(node);
        case NodeOp::Select:
          return larger(magnitude(node.b), magnitude(node.c));
        case NodeOp::SignedMax:
        case NodeOp::SignedMin:
          return larger(magnitude(node.a), magnitude(node.b));
        case NodeOp::IntAdd:
        case NodeOp::IntSub:
          return sum(magnitude(node.a), magnitude(node.b));
        default:
          return std::nullopt;
      }
    });
  }

 private:
  template <typename Find>
  Bound known(std::map<std::uint32_t, Bound>& found, Ref r, Find find) {
    while (g_[r].op == NodeOp::AsBits || g_[r].op == NodeOp::AsNumber) r = g_[r].a;
    const auto [at, is_new] = found.try_emplace(node_of(r));
    if (is_new) at->second = find(g_[r]);  // other entries do not move
    return at->second;
  }

  const Graph& g_;
  const std::uint32_t input_;
  const LeafBound& of_leaf_;
  std::map<std::uint32_t, Bound> changes_, magnitudes_;  ///< bounds of each node
};

}  // namespace

std::optional<IntegerBound> largest_change(const Kernel& kernel, Ref integer, std::uint32_t input,
                                           const LeafBound& of_leaf) {
  return Bounds(kernel.graph, input, of_leaf).change(integer);
}

std::optional<IntegerBound> largest_magnitude(const Kernel& kernel, Ref integer,
                                              const LeafBound& of_leaf) {
  return Bounds(kernel.graph, 0, of_leaf).magnitude(integer);
}

}  // namespace gdr::native
