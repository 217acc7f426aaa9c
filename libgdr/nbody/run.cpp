#include "libgdr/nbody/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr {
namespace {

volatile std::sig_atomic_t signal_received = 0;

extern "C" void record_signal(int number) { signal_received = number; }

constexpr std::array handled_signals = {SIGINT, SIGTERM, SIGHUP};

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

/// Whether a run with these parameters continues the earlier one.
bool same_parameters(const RunState& a, const RunState& b) {
  return a.integrator == b.integrator && a.softening == b.softening && a.time_step == b.time_step &&
         a.gravity == b.gravity && a.eta == b.eta && a.eta_start == b.eta_start &&
         a.smallest_step == b.smallest_step;
}

/// Number of steps until `time` is reached within a thousandth of a step.
std::int64_t steps_until(double time, const RunState& run) {
  const double steps = std::ceil((time - run.start_time) / run.time_step - 1e-3);
  if (!(steps <= max_steps))
    refuse("{} steps of {} until {} are too many; use a larger --dt", steps, run.time_step, time);
  return static_cast<std::int64_t>(steps);
}

/// An interval in whole steps, at least one.
std::int64_t in_steps(const Interval& interval, double time_step) {
  const double steps = interval.in_steps ? interval.value : interval.value / time_step;
  return static_cast<std::int64_t>(std::clamp(std::round(steps), 1.0, max_steps));
}

class Run {
 public:
  Run(Snapshot& snapshot, const RunPlan& plan, Integrator& integrator, const SnapshotOutput& output,
      const RunObserver& observer)
      : snapshot_(snapshot),
        plan_(plan),
        output_(output),
        observer_(observer),
        integrator_(integrator) {
    result_.end = plan.start;
  }

  RunResult go() {
    const Stopwatch watch;
    try {
      all_steps();
    } catch (...) {
      // Save the state also if the observer threw, for example because the output is closed.
      if (!saved_on_error_) {
        update_snapshot();
        save_after_error(true);
      }
      throw;
    }
    result_.seconds = watch.seconds();
    result_.force_calls = integrator_.force_calls();
    result_.kernel = integrator_.kernel();
    result_.block_steps = integrator_.block_statistics();
    return std::move(result_);
  }

 private:
  void all_steps() {
    ConservedQuantities values = diagnose(integrator_.particles());
    if (!plan_.restarted) result_.end.start_energy = values.total();
    record(values, true);
    if (plan_.snapshot_every > 0) save();
    while (result_.end.step < plan_.last_step && !result_.stopped) {
      step();
      values = diagnose(integrator_.particles());
      show_progress(result_.end.fraction);
      result_.stopped =
          result_.end.fraction > 0 || (stop_requested() && result_.end.step < plan_.last_step);
      const bool last = result_.stopped || result_.end.step == plan_.last_step;
      record(values, last || result_.end.step % plan_.energy_every == 0);
      const bool due = plan_.snapshot_every > 0 && result_.end.step % plan_.snapshot_every == 0;
      if (due && !last) save();
    }
    save();
  }

  void step() {
    try {
      integrator_.step([this](double fraction) {
        show_progress(fraction);
        return stop_requested();
      });
    } catch (const Error& error) {
      fail(error, fmt::format("in step {}", result_.end.step + 1));
    }
    result_.end.fraction = integrator_.fraction();
    if (result_.end.fraction == 0) ++result_.end.step;
  }

  bool stop_requested() const { return observer_.stop_requested && observer_.stop_requested(); }

  void show_progress(double fraction) const {
    if (observer_.progress) observer_.progress(static_cast<double>(result_.end.step) + fraction);
  }

  void record(const ConservedQuantities& values, bool wanted) {
    const double error = relative_change(values.total(), result_.end.start_energy);
    result_.largest_error = std::max(result_.largest_error, std::abs(error));
    if (!wanted) return;
    result_.records.push_back({result_.end.step, result_.end.time(), error, values});
    if (observer_.energies) observer_.energies(result_.records.back());
  }

  /// Copies the state of the particles to the snapshot.
  void update_snapshot() {
    snapshot_.position = integrator_.particles().position;
    snapshot_.velocity = integrator_.particles().velocity;
    snapshot_.time = result_.end.time();
    snapshot_.run = result_.end;
    integrator_.save(snapshot_);
  }

  void save() {
    update_snapshot();
    if (output_.directory.empty()) return;
    const std::string path = output_.path(result_.end.step, result_.end.fraction);
    if (!result_.snapshots.empty() && result_.snapshots.back() == path) return;
    try {
      const auto write = [&] {
        if (output_.writes()) write_snapshot(path, snapshot_, output_.format);
      };
      output_.collectively ? output_.collectively(write) : write();
    } catch (const Error& error) {
      fail(error, fmt::format("at step {}", result_.end.step), false);
    }
    result_.snapshots.push_back(path);
  }

  /// Save what there is, and throw with the place of it.
  [[noreturn]] void fail(const Error& error, const std::string& where, bool try_directory = true) {
    update_snapshot();
    std::string message = fmt::format("{} ({})", error.what(), where);
    const std::string path = save_after_error(try_directory);
    saved_on_error_ = true;
    if (!path.empty())
      message +=
          fmt::format("\n  the state after step {} was saved to '{}'", result_.end.step, path);
    else if (!result_.snapshots.empty())
      message += fmt::format("\n  the last snapshot written is '{}'", result_.snapshots.back());
    // Keep the type of a collective error.
    if (dynamic_cast<const CollectiveError*>(&error) != nullptr)
      throw CollectiveError(error.category(), message);
    throw Error(error.category(), message);
  }

  /// Saves the state and returns the path; empty if that fails.
  std::string save_after_error(bool try_directory) const {
    if (output_.directory.empty() || !output_.writes()) return {};
    // The original error is reported; an error here leads to the next directory.
    if (try_directory) {
      try {
        const std::string path = output_.path(result_.end.step, result_.end.fraction);
        write_snapshot(path, snapshot_, output_.format);
        return path;
      } catch (const Error&) {
      }
    }
    try {
      std::error_code failed;
      const std::string directory = std::filesystem::temp_directory_path(failed).string();
      // Other users may write to this directory: the file is created exclusively.
      if (!failed)
        return write_private_snapshot(directory,
                                      fmt::format("gdr-nbody-snapshot_{:08}-", result_.end.step),
                                      snapshot_, output_.format);
    } catch (const Error&) {
    }
    return {};
  }

  Snapshot& snapshot_;
  const RunPlan& plan_;
  const SnapshotOutput& output_;
  const RunObserver& observer_;
  Integrator& integrator_;
  RunResult result_;
  bool saved_on_error_ = false;  ///< whether fail() has saved the state
};

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_received = 0;
  struct sigaction action {};
  action.sa_handler = record_signal;
  // A second signal has the default action; interrupted system calls are restarted.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigemptyset(&action.sa_mask);
  for (std::size_t k = 0; k < old_.size(); ++k) {
    ::sigaction(handled_signals[k], nullptr, &old_[k]);
    // Ignored signals remain ignored, as with nohup and in background jobs of a script.
    if (old_[k].sa_handler != SIG_IGN) ::sigaction(handled_signals[k], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t k = 0; k < old_.size(); ++k) ::sigaction(handled_signals[k], &old_[k], nullptr);
}

int InterruptGuard::received() noexcept { return signal_received; }

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
  run.softening = required(request.softening, earlier, &RunState::softening, "--eps",
                           "the softening length, for example --eps 0.015625");
  run.time_step = required(request.time_step, earlier, &RunState::time_step, "--dt",
                           "the time step, for example --dt 0.0009765625; with hermite4 the "
                           "largest one, for example --dt 0.0625");
  run.gravity = request.gravity.value_or(run.gravity);
  check_finite_above("--eps", run.softening, true);
  check_finite_above("--dt", run.time_step, false);
  check_finite_above("--G", run.gravity, false);
  plan_block_steps(request, run);
  if (!request.end_time) refuse("--t-end is required: the end time of the integration");
  if (!std::isfinite(*request.end_time)) refuse("--t-end: expected a finite time");

  // With the same parameters the earlier run continues; otherwise a new run starts here.
  plan.restarted = earlier && same_parameters(*earlier, run);
  if (!plan.restarted) {
    run.start_time = snapshot.time;
    run.step = 0;
    run.fraction = run.start_energy = 0;
  }
  if (*request.end_time < snapshot.time)
    refuse("--t-end {} is before the time of the snapshot, {}", *request.end_time, snapshot.time);
  plan.last_step =
      std::max(steps_until(*request.end_time, run), run.step + (run.fraction > 0 ? 1 : 0));
  if (request.snapshot_every)
    plan.snapshot_every = in_steps(*request.snapshot_every, run.time_step);
  plan.energy_every = request.energy_every
                          ? in_steps(*request.energy_every, run.time_step)
                          : std::max<std::int64_t>(1, plan.steps() / default_reports);
  return plan;
}

std::string SnapshotOutput::path(std::int64_t step, double fraction) const {
  const char* extension = format == SnapshotFormat::Hdf5 ? "hdf5" : "txt";
  return (std::filesystem::path(directory) /
          fmt::format("snapshot_{:08}{}.{}", step, fraction > 0 ? "_partial" : "", extension))
      .string();
}

RunResult run_simulation(Snapshot& snapshot, const RunPlan& plan, Integrator& integrator,
                         const SnapshotOutput& output, const RunObserver& observer) {
  return Run(snapshot, plan, integrator, output, observer).go();
}

RunResult run_simulation(Snapshot& snapshot, const RunPlan& plan, const ForceLaw& forces,
                         const SnapshotOutput& output, const RunObserver& observer) {
  const auto integrator = leapfrog_integrator(snapshot, plan.start.time_step, forces);
  return run_simulation(snapshot, plan, *integrator, output, observer);
}

}  // namespace gdr
