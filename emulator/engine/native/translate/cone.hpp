#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/native/translate/graph.hpp"

namespace gdr::native {

/// Cones of a graph: the nodes that are computed from some numbers and constants alone. A search
/// visits the users of such nodes only, so that it costs as much as the cone has nodes, whatever
/// the size of the graph.
class Cones {
 public:
  /// `usable`, by node: whether cones may contain it.
  Cones(const Graph& graph, std::vector<bool> usable);

  /// The nodes that depend on the numbers, and on nothing else but constants, by index and without
  /// the numbers themselves: at most `max_nodes`, the first ones.
  std::vector<std::uint32_t> cone_of(std::span<const Ref> numbers, std::size_t max_nodes);

 private:
  std::span<const std::uint32_t> users(std::uint32_t node) const;

  const Graph& graph_;
  std::vector<bool> usable_;
  std::vector<std::uint32_t> first_user_;  ///< index in users_ of each node, and the end
  std::vector<std::uint32_t> users_;       ///< nodes that use a node, each once per operand
  std::vector<std::uint32_t> search_of_;   ///< last search that found each node
  std::uint32_t search_ = 0;
};

}  // namespace gdr::native
