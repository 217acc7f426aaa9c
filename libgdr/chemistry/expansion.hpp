// Products of two Gaussians as sums of Hermite Gaussians.
#pragma once

#include "libgdr/chemistry/basis.hpp"

namespace gdr::chemistry {

/// The product of two sites' primitives: one Gaussian of exponent p at P, and the coefficients
/// E^ij_t of its Hermite expansion in each coordinate (McMurchie and Davidson, eq. 2.15 to 2.22):
///   x_A^i x_B^j exp(-a x_A^2 - b x_B^2) = sum over t of E^ij_t (d/dP)^t exp(-p x_P^2).
struct Expansion {
  double p;
  Point centre;
  unsigned la, lb;
  /// E^ij_t of a coordinate.
  double e[3][max_shell + 1][max_shell + 1][max_pair + 1];

  Expansion(const Point& a_position, const Site& a, const Point& b_position, const Site& b);

  unsigned l() const { return la + lb; }
  /// The Hermite coefficients of each product of monomials: monomials of a x monomials of b x
  /// hermite_count(l()). Sets those that are not zero.
  void of_monomials(double* hermite) const;
};

/// The exponent of the factor exp(-m) of all E: a b/(a + b) times the squared distance.
double overlap_exponent(const Point& a_position, double a, const Point& b_position, double b);

}  // namespace gdr::chemistry
