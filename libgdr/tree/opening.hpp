// How far away the proxies of a cluster may stand for it, by its size and its charges.
#pragma once

#include <span>
#include <vector>

#include "libgdr/tree/moments.hpp"

namespace gdr::tree {

/// Radii of clusters for a walk, so that errors of large clusters are as large as those of small
/// ones: a large cluster has more charge at a given ratio of radius and distance. Its error is
/// taken to be weight (radius / distance)^(degree + 1) / distance^2, with the weight of its
/// charges, as that of a force is.
class Opening {
 public:
  /// Charges are arrays of which the first elements are the particles'. The square of a cluster's
  /// weight is the square of the sum of its charges, plus the sum of their squares, for each array
  /// relative to the sum of all absolute values. The second part is the expected square of a sum of
  /// errors with random signs: those of charges of mean 0 grow with the root of their number, not
  /// with the number.
  Opening(const Octree& tree, std::span<const Moments> boxes,
          std::span<std::vector<double>* const> charges);

  /// The boxes with radii for a walk with theta: longer for clusters of more weight, shorter for
  /// those of less, of all that have more particles than `least`. No ratio of the cluster's own
  /// radius and its distance exceeds `largest_ratio`.
  std::vector<Moments> boxes_for(double theta, unsigned degree, std::size_t least,
                                 double largest_ratio) const;

 private:
  const Octree& tree_;
  std::span<const Moments> boxes_;
  std::vector<double> weights_;
};

}  // namespace gdr::tree
