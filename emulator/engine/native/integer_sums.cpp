#include "emulator/engine/native/integer_sums.hpp"

#include <algorithm>
#include <map>

namespace gdr::native {
namespace {

using Bound = std::optional<std::uint64_t>;

Bound larger(Bound a, Bound b) { return a && b ? Bound(std::max(*a, *b)) : std::nullopt; }
Bound sum(Bound a, Bound b) { return a && b ? Bound(*a + *b) : std::nullopt; }

std::uint64_t magnitude_of_constant(std::uint64_t bits) {
  const std::int64_t value = static_cast<std::int64_t>(bits) >> short_shift;
  return static_cast<std::uint64_t>(value < 0 ? -value : value);
}

/// Bounds of a graph's integers, each found once.
class Bounds {
 public:
  Bounds(const Graph& graph, std::uint32_t input) : g_(graph), input_(input) {}

  /// By how much the value differs from the input at most.
  Bound change(Ref r) {
    return known(changes_, r, [&](const Node& node) -> Bound {
      switch (node.op) {
        case NodeOp::Input:
          return LeafKey::unpack(node.bits).place == input_ ? Bound(0) : std::nullopt;
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

 private:
  Bound magnitude(Ref r) {
    return known(magnitudes_, r, [&](const Node& node) -> Bound {
      if (node.op == NodeOp::Constant) return magnitude_of_constant(node.bits);
      if (node.op == NodeOp::Select) return larger(magnitude(node.b), magnitude(node.c));
      return std::nullopt;
    });
  }

  template <typename Find>
  Bound known(std::map<std::uint32_t, Bound>& found, Ref r, Find find) {
    while (g_[r].op == NodeOp::AsBits || g_[r].op == NodeOp::AsNumber) r = g_[r].a;
    const auto [at, is_new] = found.try_emplace(node_of(r));
    if (is_new) at->second = find(g_[r]);  // other entries do not move
    return at->second;
  }

  const Graph& g_;
  const std::uint32_t input_;
  std::map<std::uint32_t, Bound> changes_, magnitudes_;  ///< by node
};

}  // namespace

std::optional<std::uint64_t> largest_change(const Kernel& kernel, Ref integer,
                                            std::uint32_t input) {
  return Bounds(kernel.graph, input).change(integer);
}

}  // namespace gdr::native
