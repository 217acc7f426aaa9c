// Boys functions and derivatives of the interaction, in double on the host.
#pragma once

#include "libgdr/chemistry/basis.hpp"

namespace gdr::chemistry {

/// F_0(T) to F_m(T), for T >= 0: F_m(T) is the integral of t^(2m) exp(-T t^2) over t from 0 to 1.
void boys_reference(unsigned m, double argument, double* values);

/// All derivatives R_tuv of F_0(alpha |x|^2) to x with t + u + v <= order, by `hermite_index`.
void derivatives(unsigned order, double alpha, const Point& x, double* values);

/// 2 pi^(5/2)/(p q sqrt(p + q)): the factor of F_0 in the interaction of two Gaussians of height 1.
double interaction_factor(double p, double q);

/// The energy (rho|rho) of a Hermite expansion of total order l and exponent p with itself.
double self_interaction(unsigned l, double p, const double* hermite);

}  // namespace gdr::chemistry
