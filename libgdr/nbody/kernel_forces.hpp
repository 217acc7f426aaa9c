// Results of any kernel on the particles of a snapshot, with variables identified by quantity.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "gdr/device.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {

/// Inputs of a kernel besides the particles.
struct KernelSettings {
  double softening = 0;
  double gravity = 1;  ///< factor of the masses
  /// Values by name, for parameters, and for target or source variables that a snapshot lacks; then
  /// equal for all particles.
  std::vector<std::pair<std::string, double>> values;
};

/// Whether one of the kernel's variables is a velocity, which the snapshot must then contain.
bool needs_velocities(const Kernel& kernel);

/// The kernel's results for all particles with all particles as sources. Inputs by
/// KernelVariable::quantity: pos, vel, acc (accelerations, by the kernel "gravity"), mass (times
/// G), id and index (0, 1, 2, ...); a parameter eps is the softening or its square. Names of
/// datasets: ax ay az "Acceleration", pot "Potential", jx jy jz "Jerk", sx sy sz "Snap", pnx pny
/// pnz "PostNewtonian", other results keep their names. Throws Error (Usage) naming all variables
/// without an input, or a setting that the kernel does not have, and Error (Input) if a sum is not
/// finite.
std::vector<ForceDataset> kernel_forces(Device& device, const Kernel& kernel,
                                        const Snapshot& snapshot, const KernelSettings& settings);

}  // namespace gdr
