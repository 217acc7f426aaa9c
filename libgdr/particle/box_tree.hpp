// A tree of boxes over points, whose leaves are groups of neighbouring points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/particle/lattice.hpp"

namespace gdr {

/// A point with its number in the arrays that it comes from.
struct NumberedPoint {
  Point x{};
  std::uint32_t number = 0;
};

/// The smallest box, with edges along the axes, around some points. Rounding keeps the order of
/// differences, squares and sums: distances of boxes bound those of their points.
struct Bounds {
  Point low{}, high{};

  void include(const Point& x) noexcept {
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = std::min(low[c], x[c]);
      high[c] = std::max(high[c], x[c]);
    }
  }
  /// The squares of the least and the largest distance of points of two boxes.
  double min_distance2(const Bounds& other) const noexcept {
    return sum_of_squares([&](std::size_t c) {
      return std::max(std::max(low[c] - other.high[c], other.low[c] - high[c]), 0.0);
    });
  }
  double largest_distance2(const Bounds& other) const noexcept {
    return sum_of_squares(
        [&](std::size_t c) { return std::max(high[c] - other.low[c], other.high[c] - low[c]); });
  }

 private:
  template <typename Length>
  static double sum_of_squares(const Length& length) noexcept {
    const double x = length(0), y = length(1), z = length(2);
    return x * x + y * y + z * z;
  }
};

/// A node of a tree: the bounds of consecutive points.
struct TreeBox {
  Bounds bounds;
  std::uint32_t first = 0, count = 0;
  std::uint32_t children = 0, parts = 0;  ///< the first of consecutive nodes; no parts: a leaf

  bool is_leaf() const noexcept { return parts == 0; }
};

/// The bounds of points, in up to `threads` threads.
Bounds bounds_of(std::span<const NumberedPoint> points, unsigned threads);

/// Sorts the points so that all leaves are consecutive and have `leaf` points, the last one fewer,
/// and returns the nodes, the root first and each level behind the one above it: none of no points.
/// A node is split along its longest edge into as many parts as make them about cubic, by a
/// counting sort, so that a level is O(n) work; a node with as many points in little space as would
/// spoil its parts is sorted. `bounds` are those of all points. The result does not depend on the
/// number of threads.
std::vector<TreeBox> sort_into_boxes(std::vector<NumberedPoint>& points, const Bounds& bounds,
                                     std::size_t leaf, unsigned threads);

}  // namespace gdr
