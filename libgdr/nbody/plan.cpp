// Plans of runs: the time grid, the integrator and its parameters, steps with output.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr {
namespace {

constexpr double max_steps = 9007199254740992.0;  // 2^53: integers up to here are exact
constexpr std::int64_t default_reports = 16;
constexpr double default_eta = 0.02;

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> message, Args&&... args) {
  throw Error(ErrorCategory::Usage, fmt::format(message, std::forward<Args>(args)...));
}

/// The requested value, else that of the earlier run, else an error.
double required(const std::optional<double>& given, const std::optional<RunState>& earlier,
                double RunState::*number, const char* option, const char* meaning) {
  if (given) return *given;
  if (earlier) return (*earlier).*number;
  refuse("{} is required: {} (the file is not a snapshot of an earlier run)", option, meaning);
}

void check_finite_above(const char* option, double value, bool zero_allowed) {
  if (std::isfinite(value) && (value > 0 || (zero_allowed && value == 0))) return;
  refuse("{}: expected a finite number {}, got {}", option,
         zero_allowed ? "of at least 0" : "above 0", value);
}

/// The integrator of a run, and the parameters of the Hermite scheme.
void plan_block_steps(const RunRequest& request, RunState& run) {
  const bool continued = run.integrator == IntegratorKind::Hermite4;
  const double earlier_eta = run.eta;
  run.integrator = request.integrator.value_or(run.integrator);
  if (run.integrator == IntegratorKind::Leapfrog) {
    run.fraction = run.eta = run.eta_start = run.smallest_step = 0;
    for (const auto& [option, value] :
         {std::pair("--eta", request.eta), std::pair("--eta-start", request.eta_start),
          std::pair("--dt-min", request.smallest_step)})
      if (value) refuse("{} is an option of --integrator hermite4; leapfrog has one step", option);
    return;
  }
  run.eta = request.eta.value_or(continued ? run.eta : default_eta);
  const bool same_eta = continued && run.eta == earlier_eta;
  run.eta_start = request.eta_start.value_or(same_eta ? run.eta_start : run.eta / 2);
  run.smallest_step = request.smallest_step.value_or(run.smallest_step);
  check_finite_above("--eta", run.eta, false);
  check_finite_above("--eta-start", run.eta_start, false);
  check_finite_above("--dt-min", run.smallest_step, true);
  if (run.smallest_step > run.time_step)
    refuse("--dt-min {} is above --dt {}, the largest step", run.smallest_step, run.time_step);
  if (run.smallest_step > 0 && run.smallest_step < run.time_step * 0x1p-40)
    refuse("--dt-min {} is below 2^-40 of --dt {}, the resolution of times", run.smallest_step,
           run.time_step);
}

void plan_accuracy(const RunRequest& request, RunState& run) {
  run.accuracy = request.accuracy.value_or(run.accuracy);
  if (!(run.accuracy >= 0 && run.accuracy < 1))
    refuse("--accuracy: expected a number above 0 and below 1, or 0 for direct sums, got {}",
           run.accuracy);
}

/// Whether a run with these parameters continues the earlier one.
bool same_parameters(const RunState& a, const RunState& b) {
  return a.integrator == b.integrator && a.softening == b.softening && a.time_step == b.time_step &&
         a.gravity == b.gravity && a.accuracy == b.accuracy && a.eta == b.eta &&
         a.eta_start == b.eta_start && a.smallest_step == b.smallest_step;
}

/// Times that differ by less are the same one, in steps.
constexpr double step_tolerance = 1e-3;

/// Number of steps until `time` is reached.
std::int64_t steps_until(double time, const RunState& run) {
  const double steps = std::ceil((time - run.start_time) / run.time_step - step_tolerance);
  if (!(steps <= max_steps))
    refuse("{} steps of {} until {} are too many; use a larger --dt", steps, run.time_step,
           time_text(time, run.time_step));
  return static_cast<std::int64_t>(steps);
}

/// An interval in whole steps, at least one.
std::int64_t in_steps(const Interval& interval, double time_step) {
  const double steps = interval.in_steps ? interval.value : interval.value / time_step;
  return static_cast<std::int64_t>(std::clamp(std::round(steps), 1.0, max_steps));
}

}  // namespace

TreeRequest tree_request(const RunPlan& plan) {
  const RunState& start = plan.start;
  TreeRequest request{start.accuracy, start.step, {}};
  constexpr auto last_method = static_cast<double>(TreeMethod::Expansion);
  constexpr double largest_degree = 16, largest_theta = 0.95;
  // Other numbers are no choice: a file may have any.
  const auto whole = [](double x, double most) { return x <= most && x == std::floor(x); };
  if (plan.restarted && whole(start.tree_method, last_method) &&
      whole(start.tree_degree, largest_degree) && start.tree_theta <= largest_theta)
    request.choice = {static_cast<TreeMethod>(static_cast<int>(start.tree_method)),
                      static_cast<unsigned>(start.tree_degree), start.tree_theta};
  return request;
}

std::string time_text(double time, double step) {
  constexpr double least = 7, most = 12;
  const double steps = step > 0 ? std::abs(time / step) : 0;
  // Two more digits than whole steps need.
  const double digits = steps > 1 ? std::ceil(std::log10(steps)) + 3 : 0;
  return fmt::format("{:.{}g}", time, static_cast<int>(std::clamp(digits, least, most)));
}

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
  interval.value = parse_all<double>(number).value_or(0);
  const bool whole = !interval.in_steps || interval.value == std::floor(interval.value);
  if (interval.value > 0 && std::isfinite(interval.value) && whole) return interval;
  refuse(
      "{}: expected a time above 0, such as 0.25, or a number of steps, such as "
      "64steps, got '{}'",
      option, text);
}

const char* integrator_name(IntegratorKind kind) noexcept {
  return kind == IntegratorKind::Leapfrog ? "leapfrog" : "hermite4";
}

IntegratorKind parse_integrator(const std::string& name) {
  for (const IntegratorKind kind : {IntegratorKind::Leapfrog, IntegratorKind::Hermite4})
    if (name == integrator_name(kind)) return kind;
  refuse("--integrator '{}': must be leapfrog or hermite4", name);
}

RunPlan plan_run(const Snapshot& snapshot, const RunRequest& request) {
  const std::optional<RunState>& earlier = snapshot.run;
  RunPlan plan;
  RunState& run = plan.start;
  run = earlier.value_or(RunState());
  run.softening = request.softening.value_or(run.softening);
  run.time_step = required(request.time_step, earlier, &RunState::time_step, "--dt",
                           "the time step, for example --dt 0.0009765625; with hermite4 the "
                           "largest one, for example --dt 0.0625");
  run.gravity = request.gravity.value_or(run.gravity);
  check_finite_above("--eps", run.softening, true);
  check_finite_above("--dt", run.time_step, false);
  check_finite_above("--G", run.gravity, false);
  plan_block_steps(request, run);
  plan_accuracy(request, run);
  if (!request.end_time) refuse("--t-end is required: the end time of the integration");
  if (!std::isfinite(*request.end_time)) refuse("--t-end: expected a finite time");

  // With the same parameters the earlier run continues; otherwise a new run starts here.
  plan.restarted = earlier && same_parameters(*earlier, run);
  if (!plan.restarted) {
    run.start_time = snapshot.time;
    run.step = 0;
    run.fraction = run.start_energy = 0;
    run.tree_method = run.tree_degree = run.tree_theta = 0;
  }
  if (*request.end_time < snapshot.time - step_tolerance * run.time_step)
    refuse("--t-end {} is before the time of the snapshot, {}",
           time_text(*request.end_time, run.time_step), time_text(snapshot.time, run.time_step));
  plan.last_step =
      std::max(steps_until(*request.end_time, run), run.step + (run.fraction > 0 ? 1 : 0));
  if (request.snapshot_every)
    plan.snapshot_every = in_steps(*request.snapshot_every, run.time_step);
  plan.energy_every = request.energy_every
                          ? in_steps(*request.energy_every, run.time_step)
                          : std::max<std::int64_t>(1, plan.steps() / default_reports);
  return plan;
}

}  // namespace gdr
