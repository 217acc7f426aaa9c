#include "kernels/compiler/front/complete_images.hpp"

#include <algorithm>
#include <cmath>

namespace gdr::kc::front {
namespace {

/// Half of the edge L, if the node is d - L round(...).
std::optional<double> half_edge(const NodeTable& nodes, const Node& node) {
  if (node.fn != Fn::Sub || nodes[node.b].fn != Fn::Mul) return std::nullopt;
  const Node& edges = nodes[node.b];
  const Node &x = nodes[edges.a], &y = nodes[edges.b];
  const Node& edge = x.fn == Fn::Constant ? x : y;
  if (edge.fn != Fn::Constant || (x.fn == Fn::Round) == (y.fn == Fn::Round)) return std::nullopt;
  return std::abs(edge.number) / 2;
}

/// The square of half of the shortest edge, if the number is a sum of squares, some of images.
std::optional<double> square_of_half_edge(const NodeTable& nodes, NodeId number) {
  // The terms of a sum from left to right, as norm2 and users write them.
  constexpr int max_terms = 16;
  std::optional<double> least;
  for (int term = 0; term < max_terms; ++term) {
    const Node& sum = nodes[number];
    const Node& product = sum.fn == Fn::Add ? nodes[sum.b] : sum;
    const Node& other = sum.fn == Fn::Add ? nodes[sum.a] : sum;
    for (const Node* const square : {&product, &other}) {
      if (square->fn != Fn::Mul || square->a != square->b) continue;
      if (const auto half = half_edge(nodes, nodes[square->a]))
        least = std::min(least.value_or(*half * *half), *half * *half);
    }
    if (sum.fn != Fn::Add) break;
    // Nodes of commutative operations have their operands in any order.
    number = nodes[sum.a].fn == Fn::Add ? sum.a : sum.b;
  }
  return least;
}

}  // namespace

std::optional<double> complete_images(const NodeTable& nodes, NodeId number) {
  const Node& node = nodes[number];
  if (node.fn == Fn::Abs || node.fn == Fn::Convert) return complete_images(nodes, node.a);
  if (const auto half = half_edge(nodes, node)) return half;
  if (node.fn != Fn::Sqrt) return square_of_half_edge(nodes, number);
  const auto square = square_of_half_edge(nodes, node.a);
  return square ? std::optional(std::sqrt(*square)) : std::nullopt;
}

}  // namespace gdr::kc::front
