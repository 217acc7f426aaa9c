#include "libgdr/tree/opening.hpp"

#include <algorithm>
#include <cmath>

namespace gdr::tree {
namespace {

constexpr double fall = 2;  ///< power of the distance with which a charge's effect falls

}  // namespace

Opening::Opening(const Octree& tree, std::span<const Moments> boxes,
                 std::span<std::vector<double>* const> charges)
    : tree_(tree), boxes_(boxes), weights_(boxes.size(), 0.0) {
  std::vector<double> sum(boxes.size()), squares(boxes.size());
  for (std::vector<double>* const charge : charges) {
    double largest = 0, all = 0;
    for (std::size_t k = 0; k < tree.size(); ++k)
      largest = std::max(largest, std::abs((*charge)[k]));
    if (largest == 0) continue;
    for (std::size_t k = 0; k < tree.size(); ++k) all += std::abs((*charge)[k]) / largest;
    tree.upwards([&](std::size_t q) {
      const Cluster& c = tree.clusters()[q];
      sum[q] = squares[q] = 0;
      for (std::size_t k = c.child; k < c.child + c.children; ++k) {
        sum[q] += sum[k];
        squares[q] += squares[k];
      }
      if (c.children > 0) return;
      for (std::size_t k = c.first; k < c.first + c.count; ++k) {
        const double share = (*charge)[k] / largest / all;
        sum[q] += share;
        squares[q] += share * share;
      }
    });
    for (std::size_t q = 0; q < boxes.size(); ++q) weights_[q] += sum[q] * sum[q] + squares[q];
  }
  for (double& weight : weights_) weight = std::sqrt(weight);
}

std::vector<Moments> Opening::boxes_for(double theta, unsigned degree, std::size_t least,
                                        double largest_ratio) const {
  std::vector<Moments> scaled(boxes_.begin(), boxes_.end());
  const auto has_error = [&](std::size_t q) { return boxes_[q].radius > 0 && weights_[q] > 0; };
  // Logarithm of the error at a given ratio of radius and distance.
  const auto size = [&](std::size_t q) {
    return std::log(weights_[q]) - fall * std::log(boxes_[q].radius);
  };
  double sum = 0, number = 0;
  for (std::size_t q = 0; q < scaled.size(); ++q) {
    if (tree_.clusters()[q].count <= least || !has_error(q)) continue;
    sum += size(q);
    number += 1;
  }
  if (number == 0) return scaled;
  const double power = 1 / (degree + 1 + fall);
  for (std::size_t q = 0; q < scaled.size(); ++q) {
    const double factor = has_error(q) ? std::exp(power * (size(q) - sum / number)) : 0;
    scaled[q].radius *= std::max(factor, theta / largest_ratio);
  }
  return scaled;
}

}  // namespace gdr::tree
