#include "kernels/compiler/lower/shared_factors.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace gdr::kc {
namespace {

class FactorSearch {
 public:
  FactorSearch(const Graph& graph, const std::vector<std::uint32_t>& uses,
               const NodeFactors& corrections)
      : graph_(graph),
        uses_(uses),
        corrections_(corrections),
        readers_(graph.nodes.size()),
        takes_(graph.nodes.size()) {
    const std::vector<bool> needed = needed_nodes(graph);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      takes_[i] = takes_constant(id);
      if (!needed[i]) continue;
      for (const NodeId operand : {graph.nodes[i].a, graph.nodes[i].b, graph.nodes[i].c})
        if (operand != no_node) readers_[index(operand)].push_back(id);
    }
    for (const auto& [id, factor] : corrections)
      if (is_product(id) && uses_[index(id)] == 1) wanted_.emplace(id, factor);
  }

  NodeFactors run() {
    // Readers follow their operands.
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const auto id = static_cast<NodeId>(i);
      const std::optional<double> factor = common_factor(id);
      if (!factor || (readers_[i].size() == 1 && !takes_[i])) continue;
      for (const NodeId reader : readers_[i]) wanted_.erase(reader);
      wanted_.emplace(id, *factor);
    }
    std::erase_if(wanted_, [&](const auto& entry) {
      return corrections_.contains(entry.first) && !has_constant(entry.first);
    });
    return wanted_;
  }

 private:
  bool is_product(NodeId id) const { return graph_.node(id).fn == Fn::Mul; }
  bool is_constant(NodeId id) const { return graph_.node(id).fn == Fn::Constant; }
  bool has_constant(NodeId id) const {
    return is_product(id) && (is_constant(graph_.node(id).a) || is_constant(graph_.node(id).b));
  }
  /// Whether a constant in a product, or in a product that only this one reads, can take in
  /// another.
  bool takes_constant(NodeId id) const {
    if (!is_product(id)) return false;
    const Node& node = graph_.node(id);
    return std::ranges::any_of(std::initializer_list<NodeId>{node.a, node.b}, [&](NodeId operand) {
      return is_constant(operand) || (uses_[index(operand)] == 1 && takes_[index(operand)]);
    });
  }

  /// The factor that all readers of a number, which are products, are to be multiplied by.
  std::optional<double> common_factor(NodeId id) const {
    const std::vector<NodeId>& readers = readers_[index(id)];
    const Type type = graph_.node(id).type;
    const bool number = type == Type::Short || type == Type::Long;
    if (!number || is_constant(id) || readers.empty() || uses_[index(id)] != readers.size())
      return {};
    std::optional<double> factor;
    for (const NodeId reader : readers) {
      const Node& node = graph_.node(reader);
      const auto wanted = wanted_.find(reader);
      if (wanted == wanted_.end() || node.a == node.b || has_constant(reader)) return {};
      if (factor && *factor != wanted->second) return {};
      factor = wanted->second;
    }
    return factor;
  }

  const Graph& graph_;
  const std::vector<std::uint32_t>& uses_;
  const NodeFactors& corrections_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> takes_;  ///< whether a node takes a constant, indexed by node (takes_constant)
  NodeFactors wanted_;  ///< products that are to be multiplied, and what has taken their factor
};

}  // namespace

NodeFactors shared_factors(const Graph& graph, const std::vector<std::uint32_t>& uses,
                           const NodeFactors& corrections) {
  return FactorSearch(graph, uses, corrections).run();
}

}  // namespace gdr::kc
