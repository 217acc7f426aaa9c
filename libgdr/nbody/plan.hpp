// The plan of a run: its time grid, and the steps with output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libgdr/io/snapshot.hpp"

namespace gdr {

/// An output interval in time units, or in steps ("64steps").
struct Interval {
  double value = 0;
  bool in_steps = false;
};
/// Parses "0.25" or "64steps". Throws Error (Usage) naming `option` unless it is positive.
Interval parse_interval(const std::string& option, const std::string& text);

/// The options of a run; missing values are taken from the snapshot of an earlier run.
struct RunRequest {
  std::optional<double> softening, time_step, gravity, end_time;
  std::optional<Interval> snapshot_every, energy_every;
};

/// Times are start.start_time + step * start.time_step with an integer step: rounding errors do not
/// accumulate, and a restart uses the same grid.
struct RunPlan {
  RunState start;
  std::int64_t last_step = 0;
  std::int64_t snapshot_every = 0;  ///< interval in steps; 0: only at the end
  std::int64_t energy_every = 1;    ///< interval in steps
  bool restarted = false;           ///< continues the grid of an earlier run

  std::int64_t steps() const noexcept { return last_step - start.step; }
  double end_time() const noexcept;
};

/// Plans a run. The last step is the first on the grid that reaches end_time: if dt does not divide
/// the interval, the run ends less than one dt after it. Throws Error (Usage) for missing values
/// and values out of range: dt <= 0, eps < 0, an end before the start, more than 2^53 steps.
RunPlan plan_run(const Snapshot& snapshot, const RunRequest& request);

}  // namespace gdr
