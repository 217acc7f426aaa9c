// Spherical designs: points on the unit sphere whose mean is exact for polynomials.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace gdr::tree {

/// Points (x, y, z arrays) over which the sum of every spherical harmonic of degree 1 to `exact`
/// vanishes.
struct Design {
  unsigned exact = 0;
  std::array<std::vector<double>, 3> at = {};
  std::size_t size() const noexcept { return at[0].size(); }
};

/// Degrees of multipoles that have a design.
constexpr unsigned min_degree = 2, largest_degree = 6;

/// The design for multipoles up to a degree, which is exact to twice that: 12, 24, 36, 60 and 84
/// points for degrees 2 to 6.
const Design& design_for(unsigned degree);

}  // namespace gdr::tree
