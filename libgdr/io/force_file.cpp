// Files of forces: accelerations and potentials of a snapshot's particles.
#include "libgdr/io/force_file.hpp"

#include <array>

#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/hdf5_writer.hpp"

namespace gdr {

void write_forces(const std::string& path, const Snapshot& snapshot, const ForceOrigin& origin,
                  std::span<const ForceDataset> results) {
  const std::vector<std::int64_t> counts(snapshot.type_counts.begin(), snapshot.type_counts.end());
  hdf5::Writer file;
  for (const ForceDataset& d : results) {
    const std::array<hsize_t, 2> both = {snapshot.size(), d.width};
    const std::span shape = std::span(both).first(d.width == 1 ? 1 : 2);
    if (d.integers.empty()) {
      file.doubles(d.name, shape, d.numbers);
    } else {
      const std::vector<std::uint64_t> bits(d.integers.begin(), d.integers.end());
      file.integers(d.name, shape, bits, true);
    }
  }
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
