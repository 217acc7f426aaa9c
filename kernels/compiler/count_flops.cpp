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
  std::vector<char> needed(n, 0), varies(n, 0);
  const auto need = [&](NodeId id) {
    if (id != no_node) needed[static_cast<std::size_t>(id)] = 1;
  };
  double flops = 0;
  for (const Contribution& c : graph.contributions) {
    need(c.value);
    need(c.payload);
    need(c.condition);
    if (c.reduction != Reduction::Append &&
        is_number(graph.nodes[static_cast<std::size_t>(c.value)].type))
      ++flops;
  }
  // Operands precede their users: variation propagates forward.
  for (std::size_t k = n; k-- > 0;) {
    if (needed[k] == 0) continue;
    for (const NodeId operand : {graph.nodes[k].a, graph.nodes[k].b, graph.nodes[k].c})
      need(operand);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const Node& node = graph.nodes[k];
    if (node.fn == Fn::Input)
      varies[k] = graph.variables[static_cast<std::size_t>(node.variable)].kind != VarKind::Param;
    for (const NodeId operand : {node.a, node.b, node.c})
      if (operand != no_node && varies[static_cast<std::size_t>(operand)] != 0) varies[k] = 1;
    if (needed[k] != 0 && varies[k] != 0 && is_number(node.type) && counts(node.fn)) ++flops;
  }
  return flops;
}

}  // namespace gdr::kc
