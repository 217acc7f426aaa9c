// The division of an Ewald sum into real space and waves, from error estimates.
#pragma once

#include <cstddef>

#include "gdr/ewald.hpp"

namespace gdr::ewald {

/// Lengths are in units of the mean distance of particles, (volume / n)^(1/3).
struct Division {
  double alpha = 0, cutoff = 0, wave_cutoff = 0;
};

/// Estimates of the errors of both parts, as EwaldOptions::accuracy: the larger one of those of
/// forces and of energies.
double real_error(double alpha, double cutoff);
double wave_error(double alpha, double wave_cutoff);

/// The division for n particles. Options have the units of Division. Throws Error (Input) for an
/// accuracy that is not above 0 and below 1.
Division divide(std::size_t n, const EwaldOptions& options);

}  // namespace gdr::ewald
