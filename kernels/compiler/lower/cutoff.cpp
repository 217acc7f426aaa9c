// The variant of a kernel that leaves out pairs beyond a cut-off, and pairs of equal numbers.
#include <algorithm>
#include <string>
#include <utility>

#include "kernels/compiler/lower/lower.hpp"

namespace gdr::kc {
namespace {

/// Adds nodes to a graph; equal nodes are shared, so that the square of the distance costs nothing
/// where the kernel computes it in longs, too.
class CutoffNodes {
 public:
  explicit CutoffNodes(Graph& graph) : graph_(graph) {}

  NodeId input(std::int32_t variable) {
    Node node;
    node.fn = Fn::Input;
    node.type = graph_.variable(variable).type;
    node.variable = variable;
    return shared(node);
  }
  /// The square of a difference, of either sign.
  NodeId square_of_difference(NodeId a, NodeId b) {
    const NodeId found = find(pair(Fn::Sub, Type::Long, b, a));
    const NodeId d = found != no_node ? found : shared(pair(Fn::Sub, Type::Long, a, b));
    return shared(pair(Fn::Mul, Type::Long, d, d));
  }
  /// An operation whose operands may change places.
  NodeId commutative(Fn fn, Type type, NodeId a, NodeId b) {
    const NodeId found = find(pair(fn, type, b, a));
    return found != no_node ? found : shared(pair(fn, type, a, b));
  }
  NodeId operation(Fn fn, Type type, NodeId a, NodeId b = no_node) {
    return shared(pair(fn, type, a, b));
  }

 private:
  static Node pair(Fn fn, Type type, NodeId a, NodeId b) {
    Node node;
    node.fn = fn;
    node.type = type;
    node.a = a;
    node.b = b;
    return node;
  }
  NodeId find(const Node& wanted) const {
    const auto same = [&](const Node& n) {
      return n.fn == wanted.fn && n.type == wanted.type && n.a == wanted.a && n.b == wanted.b &&
             n.variable == wanted.variable;
    };
    const auto found = std::ranges::find_if(graph_.nodes, same);
    return found == graph_.nodes.end() ? no_node
                                       : static_cast<NodeId>(found - graph_.nodes.begin());
  }
  NodeId shared(const Node& wanted) {
    if (const NodeId found = find(wanted); found != no_node) return found;
    graph_.nodes.push_back(wanted);
    return static_cast<NodeId>(graph_.nodes.size() - 1);
  }

  Graph& graph_;
};

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
  CutoffNodes nodes(graph);
  NodeId r2 = no_node;
  for (std::size_t c = 0; c < 3; ++c) {
    const NodeId square =
        nodes.square_of_difference(nodes.input(variable_named(graph, positions.source[c])),
                                   nodes.input(variable_named(graph, positions.target[c])));
    r2 = c == 0 ? square : nodes.commutative(Fn::Add, Type::Long, r2, square);
  }
  const NodeId near = nodes.operation(Fn::Less, Type::Bool, r2, nodes.input(radius2));
  const NodeId same =
      nodes.operation(Fn::Equal, Type::Bool, nodes.input(target), nodes.input(source));
  const NodeId counts =
      nodes.operation(Fn::And, Type::Bool, near, nodes.operation(Fn::Not, Type::Bool, same));
  for (Contribution& c : graph.contributions)
    c.condition =
        c.condition == no_node ? counts : nodes.operation(Fn::And, Type::Bool, c.condition, counts);
}

}  // namespace gdr::kc
