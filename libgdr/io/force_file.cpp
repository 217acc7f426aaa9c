// Files of forces: accelerations and potentials of a snapshot's particles.
#include "libgdr/io/force_file.hpp"

#include <array>

#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/hdf5_writer.hpp"

namespace gdr {

void write_forces(const std::string& path, const Snapshot& snapshot, const ForceOrigin& origin,
                  std::span<const double> acceleration, std::span<const double> potential) {
  const std::array<hsize_t, 2> triples = {snapshot.size(), 3};
  const std::array<hsize_t, 1> singles = {snapshot.size()};
  const std::vector<std::int64_t> counts(snapshot.type_counts.begin(), snapshot.type_counts.end());
  hdf5::Writer file;
  file.doubles("Acceleration", triples, acceleration);
  file.doubles("Potential", singles, potential);
  file.integers("ParticleIDs", snapshot.id, snapshot.signed_ids);
  file.attribute("/", "softening", origin.softening);
  file.attribute("/", "G", origin.gravity);
  file.attribute("/", "Time", snapshot.time);
  file.attribute("/", "kernel", origin.kernel);
  file.attribute("/", "engine", origin.engine);
  file.attribute("/", "source", origin.source);
  file.integer_attribute("/", "NumPart_ThisFile", H5T_STD_I64LE, counts, false);
  write_file_atomically(path, file.finish());
}

}  // namespace gdr
