// Centres, masses and sizes of the clusters of a tree.
#pragma once

#include <span>
#include <vector>

#include "libgdr/tree/octree.hpp"

namespace gdr::tree {

/// Of one cluster. Particles count with the absolute values of their masses in `centre` and `rms`,
/// so that the centre lies within the cluster's box for masses of either sign; if all are zero,
/// they count equally.
struct Moments {
  Point centre = {};
  double mass = 0;    ///< sum of the masses
  double weight = 0;  ///< sum of their absolute values
  double radius = 0;  ///< no particle is further from the centre
  double rms = 0;     ///< root of the mean square of the distances from the centre
};

inline double square_distance(const Point& a, const Point& b) noexcept {
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
  return sum;
}

/// Moments of all clusters; `mass` is in the order of the tree.
LineVector<Moments> moments_of(const Octree& tree, std::span<const double> mass);

}  // namespace gdr::tree
