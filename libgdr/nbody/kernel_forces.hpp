// Results of any kernel on the particles of a snapshot, its variables found by their names.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "gdr/device.hpp"
#include "libgdr/io/force_file.hpp"

namespace gdr {

/// What the kernel is told besides the particles.
struct KernelSettings {
  double softening = 0;
  double gravity = 1;  ///< multiplies the masses
  /// Values by name: of parameters, and of variables of targets or sources that a snapshot does not
  /// have, then the same for all particles.
  std::vector<std::pair<std::string, double>> values;
};

/// Whether one of the kernel's variables is a velocity, and the snapshot has to be read with them.
bool needs_velocities(const Kernel& kernel);

/// The kernel's results for all particles under all. Variables get, with i or j at the end:
/// x y z (positions), vx vy vz (velocities), ax ay az (accelerations, by the kernel "gravity"), m
/// (masses times G), id (0, 1, 2, ...); the parameter eps2 gets the square of the softening.
/// Results become datasets: ax ay az "Acceleration", pot "Potential", jx jy jz "Jerk", sx sy sz
/// "Snap", pnx pny pnz "PostNewtonian", others under their own names. Throws Error (Usage) for a
/// variable that nothing is known to be fed to, with all of them named and the remedy, for a
/// setting that the kernel does not have, and Error (Input) for a sum that is not finite.
std::vector<ForceDataset> kernel_forces(Device& device, const Kernel& kernel,
                                        const Snapshot& snapshot, const KernelSettings& settings);

}  // namespace gdr
