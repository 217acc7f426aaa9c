// Three points with the second moments of a cluster, for its quadrupole.
#pragma once

#include <array>

#include "libgdr/tree/octree.hpp"

namespace gdr::tree {

/// Means of the products of two coordinates of particles, weighted with their masses.
struct SecondMoments {
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;

  void add(double weight, const Point& x) noexcept {
    xx += weight * x[0] * x[0];
    yy += weight * x[1] * x[1];
    zz += weight * x[2] * x[2];
    xy += weight * x[0] * x[1];
    xz += weight * x[0] * x[2];
    yz += weight * x[1] * x[2];
  }
};

/// Three points around the origin whose means are these, except for an equal part of xx, yy and zz,
/// on which harmonic potentials do not depend (Kawai, Makino, Ebisuzaki 2004, ApJS 151, 13). The
/// smallest moment of any direction is then zero, so that the points are in a plane. For moments
/// of weights that are not negative.
std::array<Point, 3> three_points(const SecondMoments& moments);

}  // namespace gdr::tree
