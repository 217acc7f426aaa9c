#include "kernels/compiler/graph.hpp"

namespace gdr::kc {

std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size(), false);
  const auto need = [&](NodeId id) {
    if (id != no_node) needed[static_cast<std::size_t>(id)] = true;
  };
  for (const Contribution& c : graph.contributions)
    for (const NodeId id : {c.value, c.payload, c.condition}) need(id);
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const NodeId id : {graph.nodes[i].a, graph.nodes[i].b, graph.nodes[i].c}) need(id);
  return needed;
}

}  // namespace gdr::kc
