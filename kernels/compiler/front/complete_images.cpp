#include "kernels/compiler/front/complete_images.hpp"

#include <algorithm>
#include <cmath>

namespace gdr::kc::front {
namespace {

/// The number before conversions.
NodeId unconverted(std::span<const Node> nodes, NodeId number) {
  while (nodes[index(number)].fn == Fn::Convert) number = nodes[index(number)].a;
  return number;
}

/// Whether a number is computed from d by one product or quotient.
bool is_scaled(std::span<const Node> nodes, NodeId number, NodeId d) {
  const Node& node = nodes[index(unconverted(nodes, number))];
  return (node.fn == Fn::Div && unconverted(nodes, node.a) == d) ||
         (node.fn == Fn::Mul &&
          (unconverted(nodes, node.a) == d || unconverted(nodes, node.b) == d));
}

/// The edge L, if the number is d - L round(d/L).
std::optional<NodeId> edge_of(std::span<const Node> nodes, NodeId number) {
  const Node& image = nodes[index(unconverted(nodes, number))];
  if (image.fn != Fn::Sub) return std::nullopt;
  const Node& product = nodes[index(unconverted(nodes, image.b))];
  if (product.fn != Fn::Mul) return std::nullopt;
  for (const auto& [rounded, edge] : {std::pair(product.a, product.b), {product.b, product.a}}) {
    const Node& count = nodes[index(unconverted(nodes, rounded))];
    if (count.fn == Fn::Round && is_scaled(nodes, count.a, unconverted(nodes, image.a)))
      return edge;
  }
  return std::nullopt;
}

/// The edges of the images among the squares of a sum.
std::vector<NodeId> edges_in_squares(std::span<const Node> nodes, NodeId number) {
  // The terms of a sum from left to right, as norm2 and users write them.
  constexpr int max_terms = 16;
  std::vector<NodeId> edges;
  for (int term = 0; term < max_terms; ++term) {
    const Node& sum = nodes[index(number)];
    const bool is_sum = sum.fn == Fn::Add;
    for (const NodeId part : {is_sum ? sum.b : number, is_sum ? sum.a : number}) {
      const Node& square = nodes[index(part)];
      if (square.fn != Fn::Mul || square.a != square.b) continue;
      if (const auto edge = edge_of(nodes, square.a)) edges.push_back(*edge);
      if (!is_sum) break;
    }
    if (!is_sum) break;
    // Nodes of commutative operations have their operands in any order.
    number = nodes[index(sum.a)].fn == Fn::Add ? sum.a : sum.b;
  }
  return edges;
}

}  // namespace

std::optional<ImageEdges> image_edges(std::span<const Node> nodes, NodeId number) {
  const Node& node = nodes[index(number)];
  if (node.fn == Fn::Abs || node.fn == Fn::Convert) return image_edges(nodes, node.a);
  if (const auto edge = edge_of(nodes, number)) return ImageEdges{{*edge}, false};
  const bool is_root = node.fn == Fn::Sqrt;
  ImageEdges found{edges_in_squares(nodes, is_root ? unconverted(nodes, node.a) : number),
                   !is_root};
  if (found.edges.empty()) return std::nullopt;
  return found;
}

std::optional<double> complete_images(std::span<const Node> nodes, NodeId number) {
  const std::optional<ImageEdges> images = image_edges(nodes, number);
  if (!images) return std::nullopt;
  std::optional<double> least;
  for (const NodeId edge : images->edges) {
    const Node& node = nodes[index(unconverted(nodes, edge))];
    if (node.fn != Fn::Constant) continue;
    const double half = std::abs(node.number) / 2, complete = images->squared ? half * half : half;
    least = std::min(least.value_or(complete), complete);
  }
  return least;
}

}  // namespace gdr::kc::front
