// What a run will do: the grid of times that it steps over, and where it reports and saves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libgdr/io/snapshot.hpp"

namespace gdr {

/// How often something is done: every so many time units, or (as in "64steps") steps.
struct Interval {
  double value = 0;
  bool in_steps = false;
};
/// Parse "0.25" or "64steps". Throws Error (Usage) naming `option` unless it is above 0.
Interval parse_interval(const std::string& option, const std::string& text);

/// A run as the user asks for it; what is not given comes from the snapshot of an earlier run.
struct RunRequest {
  std::optional<double> softening, time_step, gravity, end_time;
  std::optional<Interval> snapshot_every, energy_every;
};

/// Times are start.start_time + step * start.time_step, with an integer step: no error adds up, and
/// a restart stands on the same grid.
struct RunPlan {
  RunState start;
  std::int64_t last_step = 0;
  std::int64_t snapshot_every = 0;  ///< steps; 0: only at the end
  std::int64_t energy_every = 1;    ///< steps
  bool restarted = false;           ///< goes on with the grid of an earlier run

  std::int64_t steps() const noexcept { return last_step - start.step; }
  double end_time() const noexcept;
};

/// Lay out a run. The last step is the first on the grid that reaches end_time: where dt does not
/// divide the time, the run ends less than one dt after it. Throws Error (Usage) for what is
/// missing or out of range: dt <= 0, eps < 0, an end before the start, more than 2^53 steps.
RunPlan plan_run(const Snapshot& snapshot, const RunRequest& request);

}  // namespace gdr
