// Files of forces: accelerations and potentials of a snapshot's particles.
#pragma once

#include <span>
#include <string>

#include "libgdr/io/snapshot.hpp"

namespace gdr {

/// How the forces of a file were computed: attributes of its root.
struct ForceOrigin {
  double softening = 0;
  double gravity = 1;
  std::string kernel;  ///< "gravity"
  std::string engine;  ///< "vector"
  std::string source;  ///< name of the snapshot file
};

/// Write float64 datasets at the file's root, in the snapshot's order (type 0 first, then 1, ...):
/// Acceleration (n, 3), Potential (n), and ParticleIDs (n); atomically. The attribute
/// NumPart_ThisFile says how many particles are of which type. Throws Error (Io).
void write_forces(const std::string& path, const Snapshot& snapshot, const ForceOrigin& origin,
                  std::span<const double> acceleration, std::span<const double> potential);

}  // namespace gdr
