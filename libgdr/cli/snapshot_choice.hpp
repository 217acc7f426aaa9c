// The snapshot that a command reads.
#pragma once

#include <string>
#include <vector>

#include "libgdr/cli/command.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr::cli {

struct SnapshotChoice {
  std::string file;
  std::vector<std::string> omitted;  ///< types of particles, as the user wrote them
};

/// Add FILE and --omit.
void add_snapshot_options(CLI::App& app, SnapshotChoice& choice);
/// Throws Error (Usage) for types that do not exist, else as `gdr::read_snapshot`.
Snapshot read_chosen_snapshot(const SnapshotChoice& choice, Velocities velocities);

}  // namespace gdr::cli
