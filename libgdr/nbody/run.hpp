// A run: steps over a plan, with energies and snapshots on the way and the state safe in the end.
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
  double energy_error = 0;  ///< (E - E0) / |E0|, E0 that of step 0
  Diagnostics values;
};

/// What the caller wants to see and to say while a run goes on. Empty functions are left out.
struct RunObserver {
  std::function<void(const EnergyRecord&)> energies;
  std::function<void(const std::string& path)> saved;
  std::function<void(std::int64_t step)> progress;
  std::function<bool()> stop;  ///< asked after every step; true ends the run with a snapshot
};

struct RunResult {
  RunState end;                        ///< where the run stands
  bool stopped = false;                ///< by RunObserver::stop, before its end
  std::vector<EnergyRecord> records;   ///< at the first step, those of the plan, and the last
  double largest_error = 0;            ///< of the energy, over all steps (a magnitude)
  std::vector<std::string> snapshots;  ///< written, in order
  double seconds = 0;                  ///< wall time of the steps, forces included
  std::uint64_t force_calls = 0;
};

/// Where snapshots go. No folder: none are written.
struct SnapshotPlace {
  std::string folder;
  SnapshotFormat format = SnapshotFormat::Hdf5;

  /// Of processes that run the same, one writes, and all must know what became of it: `together`
  /// runs what may fail on one of them, and throws on all of them then. Empty: there is one. Who
  /// writes may change, when processes are lost.
  std::function<bool()> writes = [] { return true; };
  std::function<void(const std::function<void()>&)> together = {};

  /// FOLDER/snapshot_00000512.hdf5
  std::string path(std::int64_t step) const;
};

/// Integrate the particles of `snapshot` over the plan; at return it holds the end of the run.
/// Writes snapshots at the plan's steps, at the end, and where the run is stopped. When forces fail
/// or a snapshot cannot be written, the last complete step is saved (where needed in the folder for
/// temporary files), and the Error says where.
RunResult run_simulation(Snapshot& snapshot, const RunPlan& plan, const ForceLaw& forces,
                         const SnapshotPlace& place, const RunObserver& observer = {});

}  // namespace gdr
