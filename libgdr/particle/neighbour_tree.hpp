// A binary tree of boxes with sources. A node is split at the median of its longest axis, so that
// any distribution gives a balanced tree; sources are stored in the order of the leaves, where a
// vectorised loop computes their distances.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "libgdr/particle/lattice.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr {

/// The smallest box, with edges along the axes, around some points.
struct Bounds {
  Point low, high;

  void include(const Point& x) noexcept {
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = std::min(low[c], x[c]);
      high[c] = std::max(high[c], x[c]);
    }
  }
};

/// Finds the sources near a point or a group of points.
class NeighbourTree {
 public:
  explicit NeighbourTree(std::span<const double> sources) : number_(sources.size() / 3) {
    std::iota(number_.begin(), number_.end(), std::uint32_t{0});
    if (number_.empty()) return;
    build(sources, 0, number_.size());
    for (std::size_t c = 0; c < 3; ++c) {
      at_[c].resize(number_.size());
      for (std::size_t k = 0; k < number_.size(); ++k) at_[c][k] = sources[3 * number_[k] + c];
    }
  }

  /// Calls at_sources(numbers) for the sources whose distance to a box may be within the radius, in
  /// parts and in any order; rounding loses none.
  template <typename AtSources>
  void find_near(const Bounds& box, double radius2, const AtSources& at_sources) const {
    std::array<std::uint32_t, leaf_sources> near;
    walk(
        box, radius2, [](const Node&) { return false; },
        [&](const Node& leaf) {
          const std::size_t n =
              choose_near({at_[0].data(), at_[1].data(), at_[2].data()}, leaf.first, leaf.count,
                          box.low, box.high, radius2, near.data());
          for (std::size_t k = 0; k < n; ++k) near[k] = number_[near[k]];
          at_sources(std::span<const std::uint32_t>(near.data(), n));
        });
  }

  /// Calls at_group(numbers, bounds) for groups of sources that are close to each other: those of
  /// the largest nodes with at most `most` sources.
  template <typename AtGroup>
  void for_each_group(std::size_t most, const AtGroup& at_group) const {
    for (std::size_t k = 0; k < nodes_.size();) {
      const Node& node = nodes_[k];
      const bool is_group = node.count <= most || node.right == 0;
      if (is_group)
        at_group(std::span<const std::uint32_t>(number_.data() + node.first, node.count),
                 node.bounds);
      k = is_group ? node.next : k + 1;
    }
  }

  /// The number of sources within the radius, without the work for those of whole nodes.
  std::size_t count(const Point& x, double radius2) const {
    std::size_t total = 0;
    std::vector<std::uint32_t> found;
    const auto take_whole = [&](const Node& node) {
      const bool whole = node.largest_distance2(x) < radius2;
      if (whole) total += node.count;
      return whole;
    };
    walk({x, x}, radius2, take_whole, [&](const Node& leaf) {
      found.clear();
      find_in(leaf, x, radius2, found);
      total += found.size();
    });
    return total;
  }

 private:
  struct Node {
    Bounds bounds;
    std::size_t first, count;
    std::uint32_t right = 0;  ///< 0: a leaf
    std::uint32_t next = 0;   ///< behind the nodes below this one

    /// At most the square of the distance between a source of the node and a point of a box:
    /// rounding keeps the order of differences, squares and sums.
    double least_distance2(const Bounds& box) const noexcept {
      Point d;
      for (std::size_t c = 0; c < 3; ++c)
        d[c] = std::max({bounds.low[c] - box.high[c], box.low[c] - bounds.high[c], 0.0});
      return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }

    /// At least the square of the distance to each source of the node.
    double largest_distance2(const Point& x) const noexcept {
      Point d;
      for (std::size_t c = 0; c < 3; ++c)
        d[c] = std::max(x[c] - bounds.low[c], bounds.high[c] - x[c]);
      return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
  };

  /// Calls at_leaf for the leaves that may have sources within the radius, but for those below a
  /// node for which is_done returns true.
  template <typename IsDone, typename AtLeaf>
  void walk(const Bounds& box, double radius2, const IsDone& is_done, const AtLeaf& at_leaf) const {
    if (nodes_.empty()) return;
    // Each level leaves at most one node behind.
    std::array<std::uint32_t, std::numeric_limits<std::size_t>::digits> stack;
    std::size_t waiting = 0;
    stack[waiting++] = 0;
    while (waiting > 0) {
      const Node& node = nodes_[stack[--waiting]];
      if (!(node.least_distance2(box) < radius2) || is_done(node)) continue;
      if (node.right == 0) {
        at_leaf(node);
        continue;
      }
      stack[waiting++] = node.right;
      stack[waiting++] = static_cast<std::uint32_t>(&node - nodes_.data()) + 1;  // the left one
    }
  }

  /// Adds the numbers of the sources within the radius, counted from the first of the leaf.
  void find_in(const Node& leaf, const Point& x, double radius2,
               std::vector<std::uint32_t>& found) const {
    find_within(
        {at_[0].data() + leaf.first, at_[1].data() + leaf.first, at_[2].data() + leaf.first},
        leaf.count, x, 0, radius2, found);
  }

  void build(std::span<const double> sources, std::size_t first, std::size_t count) {
    const auto begin = number_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::span<std::uint32_t> mine{&*begin, count};
    Node node{{}, first, count};
    std::size_t longest = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      node.bounds.low[c] = node.bounds.high[c] = sources[3 * std::size_t{mine[0]} + c];
      for (const std::uint32_t j : mine) {
        const double x = sources[3 * std::size_t{j} + c];
        node.bounds.low[c] = std::min(node.bounds.low[c], x);
        node.bounds.high[c] = std::max(node.bounds.high[c], x);
      }
      // Halves, as the difference of the largest numbers overflows.
      const auto length = [&](std::size_t axis) {
        return node.bounds.high[axis] / 2 - node.bounds.low[axis] / 2;
      };
      if (length(c) > length(longest)) longest = c;
    }
    const std::size_t at = nodes_.size();
    nodes_.push_back(node);
    nodes_[at].next = static_cast<std::uint32_t>(nodes_.size());
    if (count <= leaf_sources) return;
    const std::size_t half = count / 2;
    std::ranges::nth_element(
        mine, mine.begin() + static_cast<std::ptrdiff_t>(half), {},
        [&](std::uint32_t j) { return sources[3 * std::size_t{j} + longest]; });
    build(sources, first, half);
    nodes_[at].right = static_cast<std::uint32_t>(nodes_.size());
    build(sources, first + half, count - half);
    nodes_[at].next = static_cast<std::uint32_t>(nodes_.size());
  }

  /// Largest number of sources of a leaf.
  static constexpr std::size_t leaf_sources = 64;

  std::vector<Node> nodes_;                ///< nodes, in preorder
  std::vector<std::uint32_t> number_;      ///< numbers of the sources, in the order of the leaves
  std::array<std::vector<double>, 3> at_;  ///< coordinates of the particles
};

}  // namespace gdr
