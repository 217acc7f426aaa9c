#include "libgdr/tree/moments.hpp"

#include <cmath>

namespace gdr::tree {
namespace {

/// Calls use(centre, weight, mass, radius, mean square of the distances) for the parts of a
/// cluster: the children, or the particles of a leaf.
template <typename Use>
void for_parts(const Octree& tree, const Cluster& c, std::span<const double> mass,
               std::span<const Moments> moments, const Use& use) {
  if (c.children > 0)
    for (std::size_t k = c.child; k < c.child + c.children; ++k)
      use(moments[k].centre, moments[k].weight, moments[k].mass, moments[k].radius,
          moments[k].rms * moments[k].rms);
  else
    for (std::size_t k = c.first; k < c.first + c.count; ++k)
      use(tree.point(k), std::abs(mass[k]), mass[k], 0.0, 0.0);
}

/// The distance of the box's furthest corner.
double corner_distance(const Box& box, const Point& x) {
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double d = std::max(x[c] - box.low[c], box.high[c] - x[c]);
    sum += d * d;
  }
  return std::sqrt(sum);
}

Moments moments_of_cluster(const Octree& tree, const Cluster& c, std::span<const double> mass,
                           std::span<const Moments> moments) {
  Moments m;
  for_parts(tree, c, mass, moments, [&](const Point&, double weight, double part, double, double) {
    m.weight += weight;
    m.mass += part;
  });
  const double parts = c.children > 0 ? c.children : c.count;
  // A share rounds so that the sum of all is 1 within their number of roundings.
  const auto share = [&](double weight) { return m.weight > 0 ? weight / m.weight : 1 / parts; };
  for_parts(tree, c, mass, moments, [&](const Point& x, double weight, double, double, double) {
    for (std::size_t k = 0; k < 3; ++k) m.centre[k] += share(weight) * (x[k] - c.box.low[k]);
  });
  for (std::size_t k = 0; k < 3; ++k)
    m.centre[k] = std::clamp(c.box.low[k] + m.centre[k], c.box.low[k], c.box.high[k]);
  double mean = 0;
  for_parts(tree, c, mass, moments,
            [&](const Point& x, double weight, double, double radius, double mean_square) {
              const double d2 = square_distance(x, m.centre);
              mean += share(weight) * (d2 + mean_square);
              m.radius = std::max(m.radius, std::sqrt(d2) + radius);
            });
  m.radius = std::min(m.radius, corner_distance(c.box, m.centre));
  m.rms = std::sqrt(mean);
  return m;
}

}  // namespace

LineVector<Moments> moments_of(const Octree& tree, std::span<const double> mass) {
  LineVector<Moments> all(tree.clusters().size());
  tree.upwards(
      [&](std::size_t q) { all[q] = moments_of_cluster(tree, tree.clusters()[q], mass, all); });
  return all;
}

}  // namespace gdr::tree
