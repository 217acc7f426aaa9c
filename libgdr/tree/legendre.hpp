// Gauss-Legendre points in the box of a cluster, whose charges are those of its particles,
// interpolated: for a sum over sources whose terms are smooth functions of the source's position,
// times a charge (Wang, Krasny, Tlupova 2020, Commun. Comput. Phys. 28, 1415, with Chebyshev's
// points). Sums over many particles are close to integrals over the box, which these points compute
// exactly for twice the degree, and their mean square error of a single particle is smaller than
// that of the extrema of a Chebyshev polynomial, too.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "libgdr/tree/walk.hpp"

namespace gdr::tree {

/// Interpolation on the roots of the Legendre polynomial of degree + 1, in barycentric form.
class LegendrePoints {
 public:
  explicit LegendrePoints(unsigned degree);

  std::size_t size() const noexcept { return x_.size(); }
  std::span<const double> x() const noexcept { return x_; }
  /// The values at t, in [-1, 1], of the polynomials that are 1 at one point and 0 at the others.
  void values(double t, double* out) const noexcept;

 private:
  std::vector<double> x_, weight_;
};

/// An array of numbers of particles, followed by those of proxies.
using NumberArray = std::vector<double>;

/// The arrays that a cluster's proxies are made of.
struct ChargedParticles {
  std::array<NumberArray*, 3> position = {};
  std::vector<NumberArray*> charges = {};
  /// Arrays that multiply a charge, and the number of this charge.
  struct Carried {
    NumberArray* array;
    std::size_t charge;
  };
  std::vector<Carried> carried = {};
};

constexpr unsigned max_legendre_degree = max_kinds;

/// Centres and radii of the clusters' boxes, for a walk.
std::vector<Moments> boxes_of(const Octree& tree);

/// The proxies of `add_legendre` without their arrays, so that the lengths of lists can be
/// counted.
std::vector<Proxies> plan_legendre(const Octree& tree, unsigned least, unsigned degree);

/// Number of points of a degree: one along directions in which the particles do not extend.
std::size_t legendre_size(const Octree& tree, unsigned degree);

/// Appends proxies of the degrees from `least` to `degree` to the arrays, which have the particles
/// in the order of the tree. A cluster with fewer particles than points has none. Those of the
/// largest degree are made of the children's, which is exact, the others of those.
///
/// A carried variable is such that its product with the charge is the particles', interpolated.
std::vector<Proxies> add_legendre(const Octree& tree, unsigned least, unsigned degree,
                                  const ChargedParticles& particles);

}  // namespace gdr::tree
