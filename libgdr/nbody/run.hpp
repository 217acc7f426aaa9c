// A run: plans the time grid and the steps with output, integrates with reports of energies and
// snapshots, and saves the state on errors and signals.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/integrator.hpp"

namespace gdr {

/// An output interval in time units, or in steps ("64steps").
struct Interval {
  double value = 0;
  bool in_steps = false;
};
/// Parses "0.25" or "64steps". Throws Error (Usage) naming `option` unless it is positive.
Interval parse_interval(const std::string& option, const std::string& text);

/// "leapfrog", "hermite4".
const char* integrator_name(IntegratorKind kind) noexcept;
/// Throws Error (Usage) for another name.
IntegratorKind parse_integrator(const std::string& name);

/// The options of a run; missing values are taken from the snapshot of an earlier run.
struct RunRequest {
  std::optional<double> softening, time_step, gravity, end_time;
  std::optional<double> accuracy;            ///< accuracy of forces; 0, the default: direct sums
  std::optional<IntegratorKind> integrator;  ///< default: leapfrog
  std::optional<double> eta, eta_start, smallest_step;  ///< parameters of Hermite4
  std::optional<Interval> snapshot_every, energy_every;
};

/// Times are start.start_time + step * start.time_step with an integer step: rounding errors do not
/// accumulate, and a restart uses the same grid. A step of the Hermite scheme is one cycle of its
/// block steps.
struct RunPlan {
  RunState start;
  std::int64_t last_step = 0;
  std::int64_t snapshot_every = 0;  ///< interval in steps; 0: only at the end
  std::int64_t energy_every = 1;    ///< interval in steps
  bool restarted = false;           ///< continues the grid of an earlier run

  std::int64_t steps() const noexcept { return last_step - start.step; }
  double end_time() const noexcept;
};

/// A time for people: as many significant digits as distinguish times within a step, 7 to 12, so
/// that rounding errors of sums of steps are not shown.
std::string time_text(double time, double step);

/// Plans a run. The last step is the first on the grid that reaches end_time: if dt does not divide
/// the interval, the run ends less than one dt after it. Throws Error (Usage) for missing values
/// and values out of range: dt <= 0, eps < 0, an end before the start, more than 2^53 steps; and
/// for parameters of the Hermite scheme with the leapfrog.
RunPlan plan_run(const Snapshot& snapshot, const RunRequest& request);

/// How a run to an accuracy computes forces; a restart begins with the choice in the snapshot.
TreeRequest tree_request(const RunPlan& plan);

/// The conserved quantities at one step.
struct EnergyRecord {
  std::int64_t step = 0;
  double time = 0;
  double energy_error = 0;  ///< (E - E0) / |E0| with E0 at step 0
  ConservedQuantities values;
};

/// Callbacks during a run. Empty functions are not called.
struct RunObserver {
  std::function<void(const EnergyRecord&)> energies;
  /// Number of steps that are done, with the part of the present one.
  std::function<void(double steps)> progress;
  /// Called after every step, with the Hermite scheme after every block step; true ends the run
  /// with a snapshot.
  std::function<bool()> stop_requested;
  /// Called after each part of the run, "step", "energies" or "snapshot", with its beginning and
  /// end in seconds of the steady clock.
  std::function<void(const char* part, double begin, double end)> parts;
};

struct RunResult {
  RunState end;                        ///< final state of the run
  bool stopped = false;                ///< whether RunObserver::stop_requested ended the run early
  std::vector<EnergyRecord> records;   ///< energies at the first, the planned and the last step
  double largest_error = 0;            ///< maximum of |energy error| over all steps
  std::vector<std::string> snapshots;  ///< paths of snapshots, in order
  double seconds = 0;                  ///< wall time of the steps, including forces
  std::uint64_t force_calls = 0;
  std::string kernel;  ///< name of the kernel that computed the forces
  std::optional<HermiteStatistics>
      block_steps;  ///< statistics of the Hermite scheme, over all ranks
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

  /// DIRECTORY/snapshot_00000512.hdf5; within the step after it snapshot_00000512_partial.hdf5.
  std::string path(std::int64_t step, double fraction = 0) const;
};

/// Integrates the particles of `snapshot`, which holds the final state on return. Writes snapshots
/// at the planned steps, at the end, and when the run is stopped. If the forces fail or a snapshot
/// cannot be written, the state after the last complete step is saved, if necessary in the
/// directory for temporary files, and the Error names the file.
RunResult run_simulation(Snapshot& snapshot, const RunPlan& plan, Integrator& integrator,
                         const SnapshotOutput& output, const RunObserver& observer = {});
/// The same with the leapfrog.
RunResult run_simulation(Snapshot& snapshot, const RunPlan& plan, const ForceLaw& forces,
                         const SnapshotOutput& output, const RunObserver& observer = {});

/// During its lifetime SIGINT, SIGTERM and SIGHUP are recorded and do not terminate the process, so
/// that a run can stop after the current step. A second signal of the same kind terminates it. Only
/// one guard may exist at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The last signal received, or 0.
  static int received() noexcept;

 private:
  std::array<struct sigaction, 3> old_{};
};

}  // namespace gdr
