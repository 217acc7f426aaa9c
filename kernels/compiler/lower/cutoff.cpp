// The variant of a kernel that leaves out pairs beyond a cut-off, and pairs of equal numbers.
#include <algorithm>
#include <string>
#include <utility>

#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/lower/shared_nodes.hpp"

namespace gdr::kc {
namespace {

std::int32_t variable_named(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.variables, name, &GraphVariable::name);
  return static_cast<std::int32_t>(found - graph.variables.begin());
}

std::int32_t add_variable(Graph& graph, std::string_view name, VarKind kind, Type type) {
  GraphVariable v;
  v.name = name;
  v.kind = kind;
  v.type = type;
  v.type_given = true;
  graph.variables.push_back(std::move(v));
  return static_cast<std::int32_t>(graph.variables.size() - 1);
}

}  // namespace

void add_cutoff(Graph& graph, const CutoffPositions& positions) {
  const std::int32_t radius2 =
      add_variable(graph, cutoff_names::radius2, VarKind::Target, Type::Long);
  const std::int32_t target = add_variable(graph, cutoff_names::target, VarKind::Target, Type::Int);
  const std::int32_t source = add_variable(graph, cutoff_names::source, VarKind::Source, Type::Int);
  SharedNodes nodes(graph);
  Cutoff cutoff{static_cast<std::uint32_t>(radius2)};
  NodeId r2 = no_node;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::int32_t of_source = variable_named(graph, positions.source[c]);
    const std::int32_t of_target = variable_named(graph, positions.target[c]);
    cutoff.source[c] = static_cast<std::uint32_t>(of_source);
    cutoff.target[c] = static_cast<std::uint32_t>(of_target);
    const NodeId square =
        nodes.square_of_difference(nodes.input(of_source), nodes.input(of_target));
    r2 = c == 0 ? square : nodes.commutative(Fn::Add, Type::Long, r2, square);
  }
  const NodeId near = nodes.operation(Fn::Less, Type::Bool, r2, nodes.input(radius2));
  const NodeId same =
      nodes.operation(Fn::Equal, Type::Bool, nodes.input(target), nodes.input(source));
  const NodeId counts =
      nodes.operation(Fn::And, Type::Bool, near, nodes.operation(Fn::Not, Type::Bool, same));
  graph.cutoff = cutoff;
  for (Contribution& c : graph.contributions)
    c.condition =
        c.condition == no_node ? counts : nodes.operation(Fn::And, Type::Bool, c.condition, counts);
}

}  // namespace gdr::kc
