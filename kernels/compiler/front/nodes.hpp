// The nodes of a graph that is being built: equal ones are one.
#pragma once

#include <unordered_map>
#include <vector>

#include "kernels/compiler/graph.hpp"

namespace gdr::kc::front {

class NodeTable {
 public:
  /// The node with this function, type, operands and payload; the first that asked gives its place.
  /// Operands of operations that commute may come back swapped.
  NodeId node(Node n);

  /// `a` and `b` and `c` as a node; short for the common case.
  NodeId make(Fn fn, Type type, const SourceRange& where, NodeId a, NodeId b = no_node,
              NodeId c = no_node);

  const Node& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  std::size_t size() const noexcept { return nodes_.size(); }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  std::vector<Node> nodes_;
  std::unordered_multimap<std::uint64_t, NodeId> by_hash_;
};

/// Leave out what no contribution needs.
void drop_unused_nodes(Graph& graph);

}  // namespace gdr::kc::front
