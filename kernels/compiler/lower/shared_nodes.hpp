// Adds nodes to a graph whose nodes exist already.
#pragma once

#include <algorithm>

#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc {

/// Adds nodes to a graph; equal nodes are shared, so that for example the square of the distance of
/// a cut-off costs nothing where the kernel computes it in longs, too.
class SharedNodes {
 public:
  explicit SharedNodes(Graph& graph) : graph_(graph) {}

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

}  // namespace gdr::kc
