// Gravity by direct summation in double on the host: what the device is compared with.
#pragma once

#include <span>

namespace gdr {

/// Accelerations and potentials with the meaning of gdr::Gravity: softened, G = 1, a particle does
/// not act on itself, and pairs at the same place do not act on each other at zero softening.
void direct_sum(std::span<const double> position, std::span<const double> mass, double eps,
                std::span<double> acceleration, std::span<double> potential);

}  // namespace gdr
