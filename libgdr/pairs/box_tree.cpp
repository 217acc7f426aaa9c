#include "libgdr/pairs/box_tree.hpp"

#include <algorithm>
#include <array>

#include "emulator/host/parallel.hpp"

namespace gdr {
namespace {

/// Host time for a point on a level of the tree, nanoseconds.
constexpr double ns_a_point = 10;
/// Nodes of a level from which on threads build whole subtrees.
constexpr std::size_t subtrees = 32;

/// Builds the tree: the place of each node is known beforehand, so that threads can build subtrees.
class TreeBuilder {
 public:
  TreeBuilder(std::vector<NumberedPoint>& points, std::size_t leaf)
      : points_(points), leaf_(leaf), nodes_(2 * leaves(points.size()) - 1) {
    nodes_[0].count = static_cast<std::uint32_t>(points.size());
  }

  std::vector<TreeBox> build(unsigned threads) && {
    std::vector<std::uint32_t> level{0};
    while (!level.empty()) {
      const bool whole = level.size() >= subtrees;
      std::vector<std::array<std::uint32_t, 2>> below(level.size());
      parallel_items(level.size(), threads, [&](std::size_t k) {
        if (whole)
          build_subtree(level[k]);
        else
          below[k] = split(level[k]);
      });
      level.clear();
      for (const auto& children : below)
        if (children[1] != 0) level.insert(level.end(), children.begin(), children.end());
    }
    return std::move(nodes_);
  }

 private:
  std::size_t leaves(std::size_t count) const noexcept { return (count + leaf_ - 1) / leaf_; }

  void build_subtree(std::uint32_t at) {
    const auto [left, right] = split(at);
    if (right == 0) return;
    build_subtree(left);
    build_subtree(right);
  }

  /// Computes the box of a node, and splits it; returns its halves, or zeros of a leaf.
  std::array<std::uint32_t, 2> split(std::uint32_t at) {
    TreeBox& node = nodes_[at];
    const std::size_t axis = enclose(node);
    if (node.count <= leaf_) return {};
    const std::size_t left_leaves = leaves(node.count) / 2;
    const auto left_count = static_cast<std::uint32_t>(left_leaves * leaf_);
    NumberedPoint* const first = points_.data() + node.first;
    std::nth_element(
        first, first + left_count, first + node.count,
        [axis](const NumberedPoint& a, const NumberedPoint& b) { return a.x[axis] < b.x[axis]; });
    const std::uint32_t left = at + 1;
    const std::uint32_t right = at + static_cast<std::uint32_t>(2 * left_leaves);
    node.right = right;
    nodes_[left].first = node.first;
    nodes_[left].count = left_count;
    nodes_[right].first = node.first + left_count;
    nodes_[right].count = node.count - left_count;
    return {left, right};
  }

  /// Sets the corners of a node; returns its longest axis.
  std::size_t enclose(TreeBox& node) const {
    Point low = points_[node.first].x, high = low;
    for (std::size_t k = 1; k < node.count; ++k) {
      const Point& x = points_[node.first + k].x;
      for (std::size_t c = 0; c < 3; ++c) {
        low[c] = std::min(low[c], x[c]);
        high[c] = std::max(high[c], x[c]);
      }
    }
    node.low = low;
    node.high = high;
    std::size_t longest = 0;
    for (std::size_t c = 1; c < 3; ++c)
      if (high[c] - low[c] > high[longest] - low[longest]) longest = c;
    return longest;
  }

  std::vector<NumberedPoint>& points_;
  std::size_t leaf_;
  std::vector<TreeBox> nodes_;
};

}  // namespace

std::vector<TreeBox> sort_into_boxes(std::vector<NumberedPoint>& points, std::size_t leaf,
                                     unsigned threads) {
  if (points.empty()) return {};
  const double work = ns_a_point * static_cast<double>(points.size());
  return TreeBuilder(points, leaf).build(threads_for(work, threads));
}

}  // namespace gdr
