#include "libgdr/particle/neighbour_tree.hpp"

#include "emulator/host/for_blocks.hpp"

namespace gdr {

NeighbourTree::NeighbourTree(std::span<const double> sources, unsigned threads)
    : number_(sources.size() / 3) {
  const std::size_t n = number_.size();
  std::vector<NumberedPoint> points(n);
  for_particles(n, threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k)
      points[k] = {{sources[3 * k], sources[3 * k + 1], sources[3 * k + 2]},
                   static_cast<std::uint32_t>(k)};
  });
  nodes_ = sort_into_boxes(points, bounds_of(points, threads), leaf_sources, threads);
  for (std::vector<double>& x : at_) x.resize(n);
  for_particles(n, threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) {
      number_[k] = points[k].number;
      for (std::size_t c = 0; c < 3; ++c) at_[c][k] = points[k].x[c];
    }
  });
}

std::size_t NeighbourTree::count(const Point& x, double radius2) const {
  const Bounds at{x, x};
  std::size_t total = 0;
  std::vector<std::uint32_t> found;
  const auto take_whole = [&](const TreeBox& node) {
    const bool whole = node.bounds.largest_distance2(at) < radius2;
    if (whole) total += node.count;
    return whole;
  };
  walk(at, radius2, take_whole, [&](const TreeBox& leaf) {
    found.clear();
    find_within(coordinates(leaf.first), leaf.count, x, 0, radius2, found);
    total += found.size();
  });
  return total;
}

}  // namespace gdr
