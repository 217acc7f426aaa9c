// Files of forces: accelerations and potentials of a snapshot's particles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgdr/io/snapshot.hpp"

namespace gdr {

/// Parameters of a force computation: attributes of the root of its file.
struct ForceOrigin {
  double softening = 0;
  double gravity = 1;
  std::string kernel;  ///< "gravity"
  std::string engine;  ///< "vector"
  std::string source;  ///< name of the snapshot file
};

/// One dataset of results: `width` values for each particle, numbers or integers.
struct ForceDataset {
  std::string name;
  std::size_t width = 1;
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
};

/// Write the datasets at the file's root as float64 or int64, (n) or (n, width), in the snapshot's
/// order (type 0 first, then 1, ...), and ParticleIDs (n); atomically. The attribute
/// NumPart_ThisFile holds the number of particles of each type. Throws Error (Io).
void write_forces(const std::string& path, const Snapshot& snapshot, const ForceOrigin& origin,
                  std::span<const ForceDataset> results);

}  // namespace gdr
