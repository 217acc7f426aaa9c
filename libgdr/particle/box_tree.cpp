#include "libgdr/particle/box_tree.hpp"

#include <bit>
#include <cmath>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/for_blocks.hpp"

namespace gdr {
namespace {

/// Host time for a point on a level of the tree, nanoseconds.
constexpr double ns_a_point = 10;
/// Most parts of a node, and most cells along its edge in which its points are counted.
constexpr std::size_t max_parts = 32, max_cells = 2048;
/// Points of a task of a large node.
constexpr std::size_t task_points = 1 << 14;

Bounds bounds_of(std::span<const NumberedPoint> points) {
  Bounds bounds;
  if (points.empty()) return bounds;
  bounds.low = bounds.high = points[0].x;
  for (const NumberedPoint& p : points) bounds.include(p.x);
  return bounds;
}

/// The parts of a node of so many leaves along its longest edge, so that leaves become cubic.
std::size_t parts_along(std::array<double, 3> edges, std::size_t leaves) {
  std::ranges::sort(edges, std::greater<>());
  const std::size_t most = std::min(leaves, max_parts);
  if (!(edges[0] > 0)) return most;
  // Lengths relative to the longest; an edge shorter than the leaves' is not split.
  const double second = edges[1] / edges[0], third = edges[2] / edges[0];
  const auto count = static_cast<double>(leaves);
  double leaf = std::cbrt(second * third / count);
  if (third < leaf) leaf = std::sqrt(second / count);
  if (second < leaf) leaf = 1 / count;
  const double parts = std::round(1 / leaf);
  return parts < static_cast<double>(most) ? std::max<std::size_t>(2, static_cast<unsigned>(parts))
                                           : most;
}

/// Builds the tree level by level.
class TreeBuilder {
 public:
  TreeBuilder(std::vector<NumberedPoint>& points, std::size_t leaf, unsigned threads)
      : points_(points), sorted_(points.size()), cell_(points.size()), leaf_(leaf) {
    threads_ = threads_for(ns_a_point * static_cast<double>(points.size()), threads);
  }

  std::vector<TreeBox> build(const Bounds& bounds) && {
    std::vector<TreeBox> nodes{{bounds, 0, static_cast<std::uint32_t>(points_.size())}};
    for (std::size_t level = 0; level < nodes.size();) {
      const std::size_t end = nodes.size();
      std::vector<std::vector<TreeBox>> parts(end - level);
      for_blocks(parts.size(), 1, threads_, [&](std::size_t k, std::size_t) {
        if (nodes[level + k].count > leaf_) parts[k] = split(nodes[level + k]);
      });
      for (const std::vector<TreeBox>& some : parts) {
        nodes[level].children = static_cast<std::uint32_t>(nodes.size());
        nodes[level++].parts = static_cast<std::uint32_t>(some.size());
        nodes.insert(nodes.end(), some.begin(), some.end());
      }
    }
    return nodes;
  }

 private:
  /// Sorts the points of a node along its longest edge, and returns its parts.
  std::vector<TreeBox> split(const TreeBox& node) {
    // Halves, as the difference of the largest numbers overflows.
    std::array<double, 3> edges{};
    for (std::size_t c = 0; c < 3; ++c) edges[c] = node.bounds.high[c] / 2 - node.bounds.low[c] / 2;
    const auto axis = static_cast<std::size_t>(std::ranges::max_element(edges) - edges.begin());
    const std::size_t leaves = divide_up(node.count, leaf_), parts = parts_along(edges, leaves);
    if (edges[axis] > 0) sort_along(node, axis, edges[axis], node.count / (4 * parts));
    std::vector<TreeBox> boxes(parts);
    for (std::size_t k = 0; k < parts; ++k) {
      const std::size_t first = k * leaves / parts * leaf_;
      const std::size_t end = std::min<std::size_t>(node.count, (k + 1) * leaves / parts * leaf_);
      boxes[k].bounds = bounds_of({points_.data() + node.first + first, end - first});
      boxes[k].first = node.first + static_cast<std::uint32_t>(first);
      boxes[k].count = static_cast<std::uint32_t>(end - first);
    }
    return boxes;
  }

  /// Sorts the points of a node by cells along an edge, of which half is given; cells with more
  /// than `most` points are sorted, too.
  void sort_along(const TreeBox& node, std::size_t axis, double half, std::size_t most) {
    const std::size_t cells = std::min(max_cells, std::bit_ceil<std::size_t>(node.count));
    NumberedPoint* const points = points_.data() + node.first;
    NumberedPoint* const to = sorted_.data() + node.first;
    std::uint16_t* const cell = cell_.data() + node.first;
    const double low = node.bounds.low[axis] / 2, scale = static_cast<double>(cells) / half;
    std::vector<std::uint32_t> places(divide_up(node.count, task_points) * cells);
    const auto in_tasks = [&](const auto& work) {
      for_blocks(node.count, task_points, threads_, [&](std::size_t first, std::size_t end) {
        work(places.data() + first / task_points * cells, first, end);
      });
    };
    in_tasks([&](std::uint32_t* count, std::size_t first, std::size_t end) {
      for (std::size_t k = first; k < end; ++k) {
        // The scale of the smallest lengths is infinite.
        const double at =
            std::min((points[k].x[axis] / 2 - low) * scale, static_cast<double>(cells - 1));
        cell[k] = static_cast<std::uint16_t>(at > 0 ? at : 0);
        ++count[cell[k]];
      }
    });
    const std::vector<std::uint32_t> ends = sum_up(places, cells);
    in_tasks([&](std::uint32_t* place, std::size_t first, std::size_t end) {
      for (std::size_t k = first; k < end; ++k) to[place[cell[k]]++] = points[k];
    });
    in_tasks([&](const std::uint32_t*, std::size_t first, std::size_t end) {
      std::copy(to + first, to + end, points + first);
    });
    for (std::size_t c = 0; c < cells; ++c) {
      const std::uint32_t first = c > 0 ? ends[c - 1] : 0;
      if (ends[c] - first <= std::max(most, leaf_)) continue;
      std::sort(points + first, points + ends[c],
                [axis](const NumberedPoint& a, const NumberedPoint& b) {
                  return a.x[axis] < b.x[axis] || (a.x[axis] == b.x[axis] && a.number < b.number);
                });
    }
  }

  /// Replaces the counts of tasks in cells by the places of their first points; returns the ends of
  /// the cells.
  static std::vector<std::uint32_t> sum_up(std::vector<std::uint32_t>& counts, std::size_t cells) {
    std::vector<std::uint32_t> ends(cells);
    std::uint32_t place = 0;
    for (std::size_t c = 0; c < cells; ++c) {
      for (std::size_t k = c; k < counts.size(); k += cells) {
        const std::uint32_t count = counts[k];
        counts[k] = place;
        place += count;
      }
      ends[c] = place;
    }
    return ends;
  }

  std::vector<NumberedPoint>& points_;
  std::vector<NumberedPoint> sorted_;
  std::vector<std::uint16_t> cell_;  ///< cell of each point, along the edge of its node
  std::size_t leaf_;
  unsigned threads_ = 1;
};

}  // namespace

Bounds bounds_of(std::span<const NumberedPoint> points, unsigned threads) {
  std::vector<Bounds> parts(divide_up(points.size(), particle_block));
  for_particles(points.size(), threads, [&](std::size_t first, std::size_t end) {
    parts[first / particle_block] = bounds_of(points.subspan(first, end - first));
  });
  Bounds bounds = parts.empty() ? Bounds() : parts[0];
  for (const Bounds& part : parts) {
    bounds.include(part.low);
    bounds.include(part.high);
  }
  return bounds;
}

std::vector<TreeBox> sort_into_boxes(std::vector<NumberedPoint>& points, const Bounds& bounds,
                                     std::size_t leaf, unsigned threads) {
  if (points.empty()) return {};
  return TreeBuilder(points, leaf, threads).build(bounds);
}

}  // namespace gdr
