// Where an integrator gets its forces from: a device, or the host itself.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "gdr/device.hpp"

namespace gdr {

/// Fills accelerations (n triples) and potentials (n values) of n particles at `position` (n
/// triples) with masses `mass`; softening and constant of gravity are its own.
using ForceLaw = std::function<void(std::span<const double> position, std::span<const double> mass,
                                    std::span<double> acceleration, std::span<double> potential)>;

/// Forces computed by a device, which must outlive the law. Equal positions give equal bits. On a
/// device of many ranks the law is called with all particles on each of them, which computes its
/// part; all get all forces.
ForceLaw device_forces(Device& device, double eps, double gravity = 1);
/// Forces computed in double on the host by direct summation, for comparison.
ForceLaw host_forces(double eps, double gravity = 1);

/// Throws Error (Input) naming the particle to blame where a force is not finite: the one that
/// stands too far out for the range of the arithmetic, else the first that suffers, too close to
/// another.
void check_forces(std::span<const double> position, std::span<const double> acceleration,
                  std::span<const double> potential);

}  // namespace gdr
