// Sources in a tree of boxes, in the order of whose leaves a vectorised loop computes distances.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/particle/box_tree.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr {

/// Finds the sources near a point or a group of points.
class NeighbourTree {
 public:
  /// Most sources of a leaf.
  static constexpr std::size_t leaf_sources = 64;

  NeighbourTree(std::span<const double> sources, unsigned threads);

  /// Calls at_sources(numbers) for the sources whose distance to a box may be within the radius, in
  /// parts and in any order; rounding loses none.
  template <typename AtSources>
  void find_near(const Bounds& box, double radius2, const AtSources& at_sources) const {
    std::array<std::uint32_t, leaf_sources> near;
    const auto none = [](const TreeBox&) { return false; };
    walk(box, radius2, none, [&](const TreeBox& leaf) {
      const std::size_t n = choose_near(coordinates(0), leaf.first, leaf.count, box.low, box.high,
                                        radius2, near.data());
      for (std::size_t k = 0; k < n; ++k) near[k] = number_[near[k]];
      at_sources(std::span<const std::uint32_t>(near.data(), n));
    });
  }

  /// Calls at_group(numbers, bounds) for the leaves, whose sources are close to each other.
  template <typename AtGroup>
  void for_each_leaf(const AtGroup& at_group) const {
    for (const TreeBox& node : nodes_)
      if (node.is_leaf())
        at_group(std::span<const std::uint32_t>(number_.data() + node.first, node.count),
                 node.bounds);
  }

  /// The number of sources within the radius, without the work for those of whole nodes.
  std::size_t count(const Point& x, double radius2) const;

 private:
  Coordinates coordinates(std::size_t first) const noexcept {
    return {at_[0].data() + first, at_[1].data() + first, at_[2].data() + first};
  }

  /// Calls at_leaf for the leaves that may have sources within the radius, but for those below a
  /// node for which is_done returns true.
  template <typename IsDone, typename AtLeaf>
  void walk(const Bounds& box, double radius2, const IsDone& is_done, const AtLeaf& at_leaf) const {
    if (!nodes_.empty()) visit(nodes_[0], box, radius2, is_done, at_leaf);
  }
  template <typename IsDone, typename AtLeaf>
  void visit(const TreeBox& node, const Bounds& box, double radius2, const IsDone& is_done,
             const AtLeaf& at_leaf) const {
    if (!(node.bounds.min_distance2(box) < radius2) || is_done(node)) return;
    if (node.is_leaf()) return at_leaf(node);
    for (std::uint32_t k = 0; k < node.parts; ++k)
      visit(nodes_[node.children + k], box, radius2, is_done, at_leaf);
  }

  std::vector<TreeBox> nodes_;
  std::vector<std::uint32_t> number_;      ///< numbers of the sources, in the order of the leaves
  std::array<std::vector<double>, 3> at_;  ///< coordinates of the particles
};

}  // namespace gdr
