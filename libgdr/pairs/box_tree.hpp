// A binary tree of boxes over points, whose leaves are groups of neighbouring points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libgdr/pairs/lattice.hpp"

namespace gdr {

/// A point with its number in the arrays that it comes from.
struct NumberedPoint {
  Point x{};
  std::uint32_t number = 0;
};

/// A box around consecutive points.
struct TreeBox {
  Point low{}, high{};
  std::uint32_t first = 0, count = 0;
  std::uint32_t right = 0;  ///< node of the right half, 0: a leaf; the left half is the next node

  bool is_leaf() const noexcept { return right == 0; }
  /// The squares of the least and the largest distance of points of two boxes.
  double least_distance2(const TreeBox& other) const noexcept {
    return sum_of_squares([&](std::size_t c) {
      return std::max(std::max(low[c] - other.high[c], other.low[c] - high[c]), 0.0);
    });
  }
  double largest_distance2(const TreeBox& other) const noexcept {
    return sum_of_squares(
        [&](std::size_t c) { return std::max(high[c] - other.low[c], other.high[c] - low[c]); });
  }
  /// The square of the least distance of a point to the box.
  double least_distance2(const Point& x) const noexcept {
    return sum_of_squares(
        [&](std::size_t c) { return std::max(std::max(low[c] - x[c], x[c] - high[c]), 0.0); });
  }

 private:
  template <typename Length>
  static double sum_of_squares(const Length& length) noexcept {
    const double x = length(0), y = length(1), z = length(2);
    return x * x + y * y + z * z;
  }
};

/// Sorts the points so that all leaves are consecutive and have `leaf` points, the last one fewer,
/// and returns the nodes in preorder: none of no points. A node is split along its longest edge,
/// so that any distribution gives a balanced tree; the work is O(n log n), in up to `threads`
/// threads, on which the result does not depend.
std::vector<TreeBox> sort_into_boxes(std::vector<NumberedPoint>& points, std::size_t leaf,
                                     unsigned threads);

}  // namespace gdr
