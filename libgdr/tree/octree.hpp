// An octree of clusters: particles sorted along a Morton curve, of which a cluster has consecutive
// ones. Neither the order nor the clusters depend on the number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/host/for_blocks.hpp"
#include "emulator/host/line_allocator.hpp"
#include "libgdr/tree/key_sort.hpp"

namespace gdr::tree {

using Point = std::array<double, 3>;

/// The bounding box of some particles.
struct Box {
  Point low, high;

  /// The square of the distance to a point: 0 inside.
  double distance2(const Point& x) const noexcept {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double d = std::max({0.0, low[c] - x[c], x[c] - high[c]});
      sum += d * d;
    }
    return sum;
  }
};

/// Extends a box to contain another, or a point.
inline void include(Box& box, const Point& low, const Point& high) noexcept {
  for (std::size_t c = 0; c < 3; ++c) {
    box.low[c] = std::min(box.low[c], low[c]);
    box.high[c] = std::max(box.high[c], high[c]);
  }
}

/// Consecutive particles of the tree's order. Its children, which are consecutive clusters, have
/// the same particles; a cluster without any is a leaf.
struct Cluster {
  std::uint32_t first = 0, count = 0;
  std::uint32_t child = 0, children = 0;
  Box box = {};
};

/// Neighbouring particles, consecutive in the tree's order.
struct Group {
  std::size_t first = 0, count = 0;
  Box box = {};
  /// The clusters of the sources with which its list begins; null: the root.
  const std::vector<std::uint32_t>* begin = nullptr;
  double softening = 0;  ///< the largest square that one of its targets adds (SquareSoftening)
};

class Octree {
 public:
  /// A tree of n finite positions (triples), at most 2^31 and of absolute values below 1e150.
  /// Leaves have at most `leaf_size` particles, or more at one place.
  Octree(std::size_t n, const double* position, std::size_t leaf_size, unsigned threads);

  /// Parents come before their children; the root, cluster 0, has all particles. None without
  /// particles.
  std::span<const Cluster> clusters() const noexcept { return clusters_; }
  /// Numbers of the particles among those of the caller, in the order of the tree.
  std::span<const std::uint32_t> order() const noexcept { return order_; }
  std::size_t size() const noexcept { return order_.size(); }
  /// Coordinates in the order of the tree.
  std::span<const double> at(std::size_t axis) const noexcept { return at_[axis]; }
  Point point(std::size_t k) const noexcept { return {at_[0][k], at_[1][k], at_[2][k]}; }
  unsigned threads() const noexcept { return threads_; }

  /// Calls work(number) for all clusters, children before their parents.
  template <typename Work>
  void upwards(const Work& work) const {
    for (std::size_t level = levels_.size() - 1; level-- > 0;)
      for_blocks(levels_[level + 1] - levels_[level], 256, threads_,
                 [&](std::size_t first, std::size_t last) {
                   for (std::size_t q = first; q < last; ++q) work(levels_[level] + q);
                 });
  }

  /// Groups of at most `size` particles, or leaves, in the order of the particles: consecutive
  /// children of one cluster.
  std::vector<Group> groups(std::size_t size) const;

 private:
  void sort_particles(std::size_t n, const double* position);
  void make_clusters(const double* position, std::size_t leaf_size);
  /// The numbers of the particles of up to eight octants of a cluster, which become its children.
  using Octants = std::array<std::uint32_t, 8>;
  Octants split(const Cluster& cluster, const double* position);
  void find_boxes();
  /// Keys of some particles in the cube around them; false if they are at one place.
  static bool make_keys(std::span<Keyed> some, const double* position, unsigned threads);

  unsigned threads_;
  LineVector<Keyed> keyed_;  ///< during the construction
  LineVector<std::uint32_t> order_;
  std::array<LineVector<double>, 3> at_;
  LineVector<Cluster> clusters_;
  std::vector<std::size_t> levels_;  ///< first cluster of each level, and the number of clusters
};

}  // namespace gdr::tree
