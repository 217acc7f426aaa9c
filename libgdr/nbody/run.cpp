#include "libgdr/nbody/run.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    ConservedQuantities values = timed_diagnose();
    if (!plan_.restarted) result_.end.start_energy = values.total();
    record(values, true);
    if (plan_.snapshot_every > 0) save();
    while (result_.end.step < plan_.last_step && !result_.stopped) {
      {
        const Part part(observer_, "step");
        step();
      }
      values = timed_diagnose();
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

  /// Tells the observer of a part, whose lifetime it has.
  class Part {
   public:
    Part(const RunObserver& observer, const char* name) : observer_(observer), name_(name) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() {
      if (observer_.parts) observer_.parts(name_, begin_, steady_seconds());
    }

   private:
    const RunObserver& observer_;
    const char* name_;
    double begin_ = steady_seconds();
  };

  ConservedQuantities timed_diagnose() const {
    const Part part(observer_, "energies");
    return diagnose(integrator_.particles());
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
    const Part part(observer_, "snapshot");
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
