#include "kernels/compiler/count_flops.hpp"

#include <vector>

namespace gdr::kc {
namespace {

bool is_number(Type type) { return type == Type::Short || type == Type::Long; }

bool counts(Fn fn) {
  switch (fn) {
    case Fn::Add:
    case Fn::Sub:
    case Fn::Mul:
    case Fn::Div:
    case Fn::Min:
    case Fn::Max:
    case Fn::Sqrt:
    case Fn::Rsqrt:
    case Fn::Reciprocal:
    case Fn::Exp:
      return true;
    default:
      return false;
  }
}

}  // namespace

double count_flops(const Graph& graph) {
  const std::size_t n = graph.nodes.size();
  const std::vector<bool> needed = needed_nodes(graph);
  std::vector<bool> varies(n, false);
  double flops = 0;
  for (const Contribution& c : graph.contributions)
    if (c.reduction != Reduction::Append && is_number(graph.node(c.value).type)) ++flops;
  // Operands precede their users: variation propagates forward.
  for (std::size_t k = 0; k < n; ++k) {
    const Node& node = graph.nodes[k];
    if (node.fn == Fn::Input) varies[k] = graph.variable(node.variable).kind != VarKind::Param;
    for (const NodeId operand : {node.a, node.b, node.c})
      if (operand != no_node && varies[static_cast<std::size_t>(operand)]) varies[k] = true;
    if (needed[k] && varies[k] && is_number(node.type) && counts(node.fn)) ++flops;
  }
  return flops;
}

}  // namespace gdr::kc
