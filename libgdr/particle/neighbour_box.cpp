// A box with periodic directions: its checks, and coordinates in its edges.
#include "libgdr/particle/neighbour_box.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Smallest volume of the parallelepiped of the directions of edges: below, rounding would move
/// particles by noticeable parts of an edge.
constexpr double least_volume = 1e-6;

Point cross_product(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double product(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double length_of(const Point& a) { return std::hypot(a[0], a[1], a[2]); }

Point unit(Point a) {
  // Twice, as the length of the smallest numbers is rounded.
  for (int time = 0; time < 2; ++time) {
    const double length = length_of(a);
    for (double& x : a) x /= length;
  }
  return a;
}

/// A unit vector perpendicular to another one.
Point perpendicular(const Point& a) {
  std::size_t least = 0;
  for (std::size_t c = 1; c < 3; ++c)
    if (std::abs(a[c]) < std::abs(a[least])) least = c;
  Point axis{};
  axis[least] = 1;
  return unit(cross_product(a, axis));
}

[[noreturn]] void wrong_edge(std::size_t direction, const char* what) {
  throw Error(ErrorCategory::Input,
              fmt::format("box: edge {} {}; a periodic direction needs an edge of finite, positive "
                          "length",
                          direction, what));
}

}  // namespace

NeighbourBox::NeighbourBox(const std::optional<PeriodicBox>& box) {
  if (!box) return;
  periodic_ = box->periodic;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!periodic_[k]) continue;
    edge_[k] = box->vectors[k];
    for (const double x : edge_[k])
      if (!std::isfinite(x)) wrong_edge(k, fmt::format("has the component {}", x).c_str());
    length_[k] = length_of(edge_[k]);
    if (!(length_[k] > 0)) wrong_edge(k, "has the length 0");
    if (!std::isnormal(length_[k]) || !std::isfinite(4 * length_[k]))
      wrong_edge(k, "is too short or too long for double precision");
  }
  if (is_periodic()) complete();
}

/// Computes reciprocal edges and heights.
void NeighbourBox::complete() {
  std::array<Point, 3> direction{};
  std::array<std::size_t, 3> order{0, 1, 2};  // periods first
  std::ranges::stable_partition(order, [&](std::size_t k) { return periodic_[k]; });
  const auto periods = static_cast<std::size_t>(std::ranges::count(periodic_, true));
  for (std::size_t k = 0; k < 3; ++k)
    if (periodic_[k]) direction[k] = unit(edge_[k]);
  const auto [p, q, r] = order;
  if (periods == 1) direction[q] = perpendicular(direction[p]);
  if (periods == 2 && !(length_of(cross_product(direction[p], direction[q])) > least_volume))
    throw Error(ErrorCategory::Input,
                "box: the edges of the periodic directions are parallel, or nearly so");
  if (periods < 3) direction[r] = unit(cross_product(direction[p], direction[q]));
  const double volume = product(direction[0], cross_product(direction[1], direction[2]));
  if (!(std::abs(volume) > least_volume))
    throw Error(ErrorCategory::Input, "box: the three edges are in a plane, or nearly so");
  for (std::size_t k = 0; k < 3; ++k) {
    reciprocal_[k] = cross_product(direction[(k + 1) % 3], direction[(k + 2) % 3]);
    for (double& x : reciprocal_[k]) x /= volume;
    height_[k] = length_[k] / length_of(reciprocal_[k]);
  }
}

double NeighbourBox::size() const noexcept {
  double sum = 0;
  for (const Point& edge : edge_)
    sum += std::max({std::abs(edge[0]), std::abs(edge[1]), std::abs(edge[2])});
  return sum;
}

Point NeighbourBox::in_edges(const Point& x) const noexcept {
  Point f{};
  for (std::size_t k = 0; k < 3; ++k)
    if (periodic_[k]) f[k] = product(x, reciprocal_[k]) / length_[k];
  return f;
}

Point NeighbourBox::wrap(Point& x) const noexcept {
  Point n{};
  const Point given = x;
  // Places far away are wrapped to a neighbouring box first.
  for (int time = 0; time < 3; ++time) {
    const Point f = in_edges(x);
    bool inside = true;
    for (std::size_t k = 0; k < 3; ++k) {
      const double edges = std::floor(f[k]);
      inside &= edges == 0;
      n[k] += edges;
    }
    if (inside) break;
    const Point s = shift(n);
    for (std::size_t c = 0; c < 3; ++c) x[c] = given[c] - s[c];
  }
  return n;
}

}  // namespace gdr
