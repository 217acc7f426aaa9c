// Softening lengths of each particle: what clusters of a tree know of them.
#pragma once

#include <span>
#include <vector>

#include "libgdr/tree/octree.hpp"

namespace gdr::tree {

/// What the sources of a cluster add to the squares of distances. The mean is weighted by the sizes
/// of masses: with it a proxy has the sum of the first terms of all particles in
///   1 / sqrt(d^2 + e^2) = 1 / d - e^2 / (2 d^3) + ...
struct ClusterSoftening {
  double mean = 0, least = 0, most = 0;
};

/// Those of all clusters; `squares` and `mass` are in the order of the tree.
std::vector<ClusterSoftening> softening_of(const Octree& tree, std::span<const double> squares,
                                           std::span<const double> mass);

/// What is added to the squares of the distances of pairs: one number, or one of each source and
/// one of each target.
struct SquareSoftening {
  double all = 0;
  std::span<const ClusterSoftening> clusters = {};  ///< squares of sources; empty: only `all`
  std::span<const double> targets = {};  ///< squares in the order of their tree; or empty

  bool of_each() const noexcept { return !clusters.empty(); }
  /// The largest for a cluster and targets that add at most `target`.
  double most(std::size_t cluster, double target) const noexcept {
    return of_each() ? clusters[cluster].most + target : all;
  }
  /// The largest difference between two sources of a cluster.
  double spread(std::size_t cluster) const noexcept {
    return of_each() ? clusters[cluster].most - clusters[cluster].least : 0;
  }
  /// The largest that some targets add, consecutive ones.
  double max_of_targets(std::size_t first, std::size_t count) const noexcept {
    return targets.empty() ? 0 : std::ranges::max(targets.subspan(first, count));
  }
};

}  // namespace gdr::tree
