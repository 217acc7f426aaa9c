#include "kernels/compiler/image_limits.hpp"

#include <optional>
#include <utility>

#include "kernels/compiler/front/complete_images.hpp"

namespace gdr::kc {
namespace {

std::optional<ParameterProduct> product_of_parameters(const Graph& graph, NodeId number) {
  constexpr std::size_t max_factors = 8;
  const Node& node = graph.node(number);
  switch (node.fn) {
    case Fn::Constant:
      return ParameterProduct{
          node.type == Type::Int ? static_cast<double>(node.integer) : node.number, {}};
    case Fn::Input: {
      const GraphVariable& v = graph.variable(node.variable);
      if (v.kind != VarKind::Param || v.table_size > 0) return std::nullopt;
      return ParameterProduct{1, {v.name}};
    }
    case Fn::Convert:
      return product_of_parameters(graph, node.a);
    case Fn::Neg:
    case Fn::Mul:
    case Fn::Div: {
      std::optional<ParameterProduct> a = product_of_parameters(graph, node.a);
      if (!a) return std::nullopt;
      const std::optional<ParameterProduct> b =
          node.fn == Fn::Neg ? ParameterProduct{-1, {}} : product_of_parameters(graph, node.b);
      if (!b || (node.fn == Fn::Div && !b->parameters.empty())) return std::nullopt;
      a->factor = node.fn == Fn::Div ? a->factor / b->factor : a->factor * b->factor;
      a->parameters.insert(a->parameters.end(), b->parameters.begin(), b->parameters.end());
      if (a->parameters.size() > max_factors) return std::nullopt;
      return a;
    }
    default:
      return std::nullopt;
  }
}

/// The limit of a comparison of `number` with `other`, if one of its products has a parameter.
std::optional<ImageLimit> image_limit(const Graph& graph, NodeId number, NodeId other) {
  const std::optional<front::ImageEdges> images = front::image_edges(graph.nodes, number);
  if (!images) return std::nullopt;
  const std::optional<ParameterProduct> limit = product_of_parameters(graph, other);
  if (!limit) return std::nullopt;
  ImageLimit found{{}, images->squared, *limit};
  bool has_parameter = !limit->parameters.empty();
  for (const NodeId edge : images->edges) {
    std::optional<ParameterProduct> length = product_of_parameters(graph, edge);
    if (!length) continue;
    has_parameter |= !length->parameters.empty();
    found.edges.push_back(std::move(*length));
  }
  if (!has_parameter || found.edges.empty()) return std::nullopt;
  return found;
}

}  // namespace

std::vector<ImageLimit> find_image_limits(const Graph& graph) {
  std::vector<ImageLimit> limits;
  const std::vector<bool> needed = needed_nodes(graph);
  for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
    const Node& node = graph.nodes[k];
    if (node.fn != Fn::Less || !needed[k]) continue;
    for (const auto& [number, other] : {std::pair(node.a, node.b), {node.b, node.a}})
      if (auto limit = image_limit(graph, number, other)) limits.push_back(std::move(*limit));
  }
  return limits;
}

}  // namespace gdr::kc
