// Hash-consed nodes of a graph under construction.
#pragma once

#include <unordered_map>
#include <vector>

#include "kernels/compiler/graph.hpp"

namespace gdr::kc::front {

class NodeTable {
 public:
  /// The node with this function, type, operands and payload; its source range is that of the first
  /// request. Operands of commutative operations may be swapped.
  NodeId node(Node n);

  /// A node with the given operands.
  NodeId make(Fn fn, Type type, const SourceRange& where, NodeId a, NodeId b = no_node,
              NodeId c = no_node);

  const Node& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  std::size_t size() const noexcept { return nodes_.size(); }
  std::vector<Node> release() { return std::move(nodes_); }

 private:
  std::vector<Node> nodes_;
  std::unordered_multimap<std::uint64_t, NodeId> by_hash_;
};

/// Remove nodes that no contribution needs.
void drop_unused_nodes(Graph& graph);

}  // namespace gdr::kc::front
