// A run: integrates a plan with reports of energies and snapshots, and saves the state on errors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/diagnostics.hpp"
#include "libgdr/nbody/forces.hpp"
#include "libgdr/nbody/plan.hpp"

namespace gdr {

/// The conserved quantities at one step.
struct EnergyRecord {
  std::int64_t step = 0;
  double time = 0;
  double energy_error = 0;  ///< (E - E0) / |E0| with E0 at step 0
  Diagnostics values;
};

/// Callbacks during a run. Empty functions are not called.
struct RunObserver {
  std::function<void(const EnergyRecord&)> energies;
  std::function<void(const std::string& path)> saved;
  std::function<void(std::int64_t step)> progress;
  std::function<bool()> stop;  ///< called after every step; true ends the run with a snapshot
};

struct RunResult {
  RunState end;                        ///< final state of the run
  bool stopped = false;                ///< whether RunObserver::stop ended the run early
  std::vector<EnergyRecord> records;   ///< at the first, the planned and the last step
  double largest_error = 0;            ///< maximum of |energy error| over all steps
  std::vector<std::string> snapshots;  ///< paths of snapshots, in order
  double seconds = 0;                  ///< wall time of the steps, including forces
  std::uint64_t force_calls = 0;
};

/// The destination of snapshots. Without a directory none are written.
struct SnapshotOutput {
  std::string directory;
  SnapshotFormat format = SnapshotFormat::Hdf5;

  /// On many ranks one rank writes; which one may change after a rank failure. `collectively` runs
  /// an operation that may fail on one rank and throws on all ranks if it does; empty for one
  /// process.
  std::function<bool()> writes = [] { return true; };
  std::function<void(const std::function<void()>&)> collectively = {};

  /// DIRECTORY/snapshot_00000512.hdf5
  std::string path(std::int64_t step) const;
};

/// Integrates the particles of `snapshot`, which holds the final state on return. Writes snapshots
/// at the planned steps, at the end, and when the run is stopped. If the forces fail or a snapshot
/// cannot be written, the state after the last complete step is saved, if necessary in the
/// directory for temporary files, and the Error names the file.
RunResult run_simulation(Snapshot& snapshot, const RunPlan& plan, const ForceLaw& forces,
                         const SnapshotOutput& output, const RunObserver& observer = {});

}  // namespace gdr
