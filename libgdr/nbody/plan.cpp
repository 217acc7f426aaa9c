#include "libgdr/nbody/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "gdr/error.hpp"

namespace gdr {
namespace {

constexpr double max_steps = 9007199254740992.0;  // 2^53: integers up to here are exact
constexpr std::int64_t default_reports = 16;

[[noreturn]] void usage_error(const std::string& message) {
  throw Error(ErrorCategory::Usage, message);
}

/// The requested value, else that of the earlier run, else an error.
double required(const std::optional<double>& given, const std::optional<RunState>& earlier,
                double RunState::*number, const char* option, const char* meaning) {
  if (given) return *given;
  if (earlier) return (*earlier).*number;
  usage_error(fmt::format("{} is required: {} (the file is not a snapshot of an earlier run)",
                          option, meaning));
}

void check_finite_above(const char* option, double value, bool zero_allowed) {
  if (std::isfinite(value) && (value > 0 || (zero_allowed && value == 0))) return;
  usage_error(fmt::format("{}: expected a finite number {}, got {}", option,
                          zero_allowed ? "of at least 0" : "above 0", value));
}

/// Number of steps until `time` is reached within a thousandth of a step.
std::int64_t steps_until(double time, const RunState& run) {
  const double steps = std::ceil((time - run.start_time) / run.time_step - 1e-3);
  if (!(steps <= max_steps))
    usage_error(fmt::format("{} steps of {} until {} are too many; use a larger --dt", steps,
                            run.time_step, time));
  return static_cast<std::int64_t>(steps);
}

/// An interval in whole steps, at least one.
std::int64_t in_steps(const Interval& interval, double time_step) {
  const double steps = interval.in_steps ? interval.value : interval.value / time_step;
  return static_cast<std::int64_t>(std::clamp(std::round(steps), 1.0, max_steps));
}

}  // namespace

double RunPlan::end_time() const noexcept {
  RunState end = start;
  end.step = last_step;
  return end.time();
}

Interval parse_interval(const std::string& option, const std::string& text) {
  constexpr std::string_view unit = "steps";
  std::string_view number = text;
  Interval interval;
  if (number.size() > unit.size() && number.substr(number.size() - unit.size()) == unit) {
    interval.in_steps = true;
    number.remove_suffix(unit.size());
  }
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), interval.value);
  const bool whole = !interval.in_steps || interval.value == std::floor(interval.value);
  if (error == std::errc() && end == number.data() + number.size() && interval.value > 0 &&
      std::isfinite(interval.value) && whole)
    return interval;
  usage_error(
      fmt::format("{}: expected a time above 0, such as 0.25, or a number of steps, such as "
                  "64steps, got '{}'",
                  option, text));
}

RunPlan plan_run(const Snapshot& snapshot, const RunRequest& request) {
  const std::optional<RunState>& earlier = snapshot.run;
  RunPlan plan;
  RunState& run = plan.start;
  run.softening = required(request.softening, earlier, &RunState::softening, "--eps",
                           "the softening length, for example --eps 0.015625");
  run.time_step = required(request.time_step, earlier, &RunState::time_step, "--dt",
                           "the time step, for example --dt 0.0009765625");
  run.gravity = request.gravity.value_or(earlier ? earlier->gravity : 1.0);
  check_finite_above("--eps", run.softening, true);
  check_finite_above("--dt", run.time_step, false);
  check_finite_above("--G", run.gravity, false);
  if (!request.end_time) usage_error("--t-end is required: the end time of the integration");
  if (!std::isfinite(*request.end_time)) usage_error("--t-end: expected a finite time");

  // With the same parameters the earlier run continues; otherwise a new run starts here.
  plan.restarted = earlier && earlier->softening == run.softening &&
                   earlier->time_step == run.time_step && earlier->gravity == run.gravity;
  if (plan.restarted) {
    run = *earlier;
  } else {
    run.start_time = snapshot.time;
  }
  if (*request.end_time < snapshot.time)
    usage_error(fmt::format("--t-end {} is before the time of the snapshot, {}", *request.end_time,
                            snapshot.time));
  plan.last_step = std::max(steps_until(*request.end_time, run), run.step);
  if (request.snapshot_every)
    plan.snapshot_every = in_steps(*request.snapshot_every, run.time_step);
  plan.energy_every = request.energy_every
                          ? in_steps(*request.energy_every, run.time_step)
                          : std::max<std::int64_t>(1, plan.steps() / default_reports);
  return plan;
}

}  // namespace gdr
