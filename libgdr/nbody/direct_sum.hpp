// Gravity by direct summation in double precision on the host: the reference for the device.
#pragma once

#include <span>

namespace gdr {

/// Accelerations and potentials as defined by gdr::Gravity: softened, G = 1, without
/// self-interaction, and without interaction of pairs at distance zero if the softening is zero.
void direct_sum(std::span<const double> position, std::span<const double> mass, double eps,
                std::span<double> acceleration, std::span<double> potential);

}  // namespace gdr
