// Force laws for integrators: forces computed by a device or by the host.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "gdr/device.hpp"

namespace gdr {

/// Computes accelerations (n three-vectors) and potentials (n values) of n particles at `position`
/// with masses `mass`. Softening and gravitational constant are part of the law.
using ForceLaw = std::function<void(std::span<const double> position, std::span<const double> mass,
                                    std::span<double> acceleration, std::span<double> potential)>;

/// Forces computed by a device, which must outlive the law. Equal positions give bit-identical
/// forces. On a device of many ranks every rank passes all particles, computes a part, and gets all
/// forces.
ForceLaw device_forces(Device& device, double eps, double gravity = 1);
/// Forces by direct summation in double precision on the host, for comparison.
ForceLaw host_forces(double eps, double gravity = 1);

/// Throws Error (Input) if a force is not finite, naming the particle that causes it: one whose
/// position exceeds the range of the arithmetic, else the first one with such a force.
void check_forces(std::span<const double> position, std::span<const double> acceleration,
                  std::span<const double> potential);

}  // namespace gdr
