#include "libgdr/tree/softening.hpp"

#include <algorithm>
#include <cmath>

namespace gdr::tree {
namespace {

/// A cluster's softening, and the sum of the sizes of its masses.
struct Weighted {
  ClusterSoftening softening = {};
  double weight = 0;
};

Weighted join(std::span<const Weighted> parts, std::span<const std::size_t> counts) {
  Weighted all;
  std::size_t count = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    all.weight += parts[k].weight;
    count += counts[k];
  }
  all.softening = parts.front().softening;
  all.softening.mean = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const ClusterSoftening& part = parts[k].softening;
    const double share = all.weight > 0
                             ? parts[k].weight / all.weight
                             : static_cast<double>(counts[k]) / static_cast<double>(count);
    all.softening.mean += share * part.mean;
    all.softening.least = std::min(all.softening.least, part.least);
    all.softening.most = std::max(all.softening.most, part.most);
  }
  all.softening.mean = std::clamp(all.softening.mean, all.softening.least, all.softening.most);
  return all;
}

}  // namespace

std::vector<ClusterSoftening> softening_of(const Octree& tree, std::span<const double> squares,
                                           std::span<const double> mass) {
  std::vector<Weighted> all(tree.clusters().size());
  tree.upwards([&](std::size_t q) {
    const Cluster& c = tree.clusters()[q];
    std::vector<Weighted> parts;
    std::vector<std::size_t> counts;
    for (std::size_t k = c.child; k < c.child + c.children; ++k) {
      parts.push_back(all[k]);
      counts.push_back(tree.clusters()[k].count);
    }
    if (c.children == 0)
      for (std::size_t j = c.first; j < c.first + c.count; ++j) {
        parts.push_back({{squares[j], squares[j], squares[j]}, std::abs(mass[j])});
        counts.push_back(1);
      }
    all[q] = join(parts, counts);
  });
  std::vector<ClusterSoftening> softening;
  softening.reserve(all.size());
  for (const Weighted& w : all) softening.push_back(w.softening);
  return softening;
}

}  // namespace gdr::tree
