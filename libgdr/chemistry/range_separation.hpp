// Range-separated interactions, as Coulomb interactions of wider charge distributions.
#pragma once

#include <vector>

namespace gdr::chemistry {

/// A Gaussian charge distribution that replaces another one: its exponent, and the factor of its
/// Hermite coefficients.
struct Substitute {
  double exponent;
  double factor;
};

/// Distributions whose Coulomb potentials add up to the potential of a distribution of exponent `q`
/// in the interaction of `omega` (CoulombOptions). erf(omega r)/r is the potential of a Gaussian
/// charge of exponent omega^2, so that the long-range potential of a charge is the Coulomb
/// potential of its convolution with that Gaussian, of exponent q omega^2/(q + omega^2) and the
/// same charge. The short range is the difference of both.
std::vector<Substitute> substitutes(double q, double omega);

/// Throws Error (Input) unless omega is 0 or has a magnitude from 1e-30 to 1e30.
void check_omega(double omega);

}  // namespace gdr::chemistry
