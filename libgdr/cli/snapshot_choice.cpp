#include "libgdr/cli/snapshot_choice.hpp"

namespace gdr::cli {

void add_snapshot_options(CLI::App& app, SnapshotChoice& choice) {
  app.add_option("FILE", choice.file,
                 "snapshot: GADGET (HDF5, binary), TIPSY, or text m x y z vx vy vz")
      ->required();
  add_repeatable(app, "--omit", choice.omitted, "leave out the particles of a type: 0 for gas",
                 "TYPE");
}

Snapshot read_chosen_snapshot(const SnapshotChoice& choice, Velocities velocities) {
  std::bitset<max_particle_types> omitted;
  for (const std::string& text : choice.omitted) {
    const auto type = parse_all<unsigned>(text);
    if (!type || *type >= max_particle_types)
      throw usage_error("--omit: expected a type of particles, 0 to {}, got '{}'",
                        max_particle_types - 1, text);
    omitted.set(*type);
  }
  return read_snapshot(choice.file, velocities, omitted);
}

}  // namespace gdr::cli
