// A run: steps over a plan, with energies and snapshots on the way and the state safe in the end.
#include "libgdr/nbody/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "gdr/error.hpp"
#include "libgdr/ranks/agree.hpp"

namespace gdr {
namespace {

class Run {
 public:
  Run(Snapshot& snapshot, const RunPlan& plan, const ForceLaw& forces, const SnapshotPlace& place,
      const RunObserver& observer)
      : snapshot_(snapshot),
        plan_(plan),
        place_(place),
        observer_(observer),
        particles_(particles_of(snapshot)),
        leapfrog_(particles_, forces) {
    result_.end = plan.start;
    result_.force_calls = 1;
  }

  RunResult go() {
    const auto begin = std::chrono::steady_clock::now();
    try {
      all_steps();
    } catch (...) {
      // Also when the observer threw (nobody reads the output any more, say), nothing is lost.
      if (!kept_) {
        update_snapshot();
        save_anywhere(true);
      }
      throw;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    result_.seconds = spent.count();
    return std::move(result_);
  }

 private:
  void all_steps() {
    Diagnostics values = diagnose(particles_);
    if (!plan_.restarted) result_.end.start_energy = values.total();
    record(values, true);
    if (plan_.snapshot_every > 0) save();
    while (result_.end.step < plan_.last_step && !result_.stopped) {
      step();
      values = diagnose(particles_);
      if (observer_.progress) observer_.progress(result_.end.step);
      result_.stopped = observer_.stop && observer_.stop() && result_.end.step < plan_.last_step;
      const bool last = result_.stopped || result_.end.step == plan_.last_step;
      record(values, last || result_.end.step % plan_.energy_every == 0);
      const bool due = plan_.snapshot_every > 0 && result_.end.step % plan_.snapshot_every == 0;
      if (due && !last) save();
    }
    save();
  }

  void step() {
    try {
      leapfrog_.step(plan_.start.time_step);
    } catch (const Error& error) {
      give_up(error, fmt::format("in step {}", result_.end.step + 1));
    }
    ++result_.end.step;
    ++result_.force_calls;
  }

  void record(const Diagnostics& values, bool wanted) {
    const double error = relative_change(values.total(), result_.end.start_energy);
    result_.largest_error = std::max(result_.largest_error, std::abs(error));
    if (!wanted) return;
    result_.records.push_back({result_.end.step, result_.end.time(), error, values});
    if (observer_.energies) observer_.energies(result_.records.back());
  }

  /// The state of the particles, as the user's snapshot.
  void update_snapshot() {
    snapshot_.position = particles_.position;
    snapshot_.velocity = particles_.velocity;
    snapshot_.time = result_.end.time();
    snapshot_.run = result_.end;
  }

  void save() {
    update_snapshot();
    if (place_.folder.empty()) return;
    const std::string path = place_.path(result_.end.step);
    if (!result_.snapshots.empty() && result_.snapshots.back() == path) return;
    try {
      const auto write = [&] {
        if (place_.writes()) write_snapshot(path, snapshot_, place_.format);
      };
      place_.together ? place_.together(write) : write();
    } catch (const Error& error) {
      give_up(error, fmt::format("at step {}", result_.end.step), false);
    }
    result_.snapshots.push_back(path);
    if (observer_.saved) observer_.saved(path);
  }

  /// Save what there is, and throw with the place of it.
  [[noreturn]] void give_up(const Error& error, const std::string& where, bool try_folder = true) {
    update_snapshot();
    std::string message = fmt::format("{} ({})", error.what(), where);
    const std::string kept = save_anywhere(try_folder);
    kept_ = true;
    if (!kept.empty())
      message += fmt::format("\n  the state after step {} is kept in '{}'", result_.end.step, kept);
    else if (!result_.snapshots.empty())
      message += fmt::format("\n  the last snapshot written is '{}'", result_.snapshots.back());
    // What all ranks threw alike stays that.
    if (dynamic_cast<const AgreedError*>(&error) != nullptr)
      throw AgreedError(error.category(), message);
    throw Error(error.category(), message);
  }

  /// Where the state was saved; empty if nowhere.
  std::string save_anywhere(bool try_folder) const {
    if (place_.folder.empty() || !place_.writes()) return {};
    // The first error is the one to report: one here only leads to the next place.
    if (try_folder) {
      try {
        const std::string path = place_.path(result_.end.step);
        write_snapshot(path, snapshot_, place_.format);
        return path;
      } catch (const Error&) {
      }
    }
    try {
      std::error_code no_folder;
      const std::string folder = std::filesystem::temp_directory_path(no_folder).string();
      // Other users can write to this folder, too.
      if (!no_folder)
        return write_private_snapshot(folder,
                                      fmt::format("gdr-nbody-snapshot_{:08}-", result_.end.step),
                                      snapshot_, place_.format);
    } catch (const Error&) {
    }
    return {};
  }

  Snapshot& snapshot_;
  const RunPlan& plan_;
  const SnapshotPlace& place_;
  const RunObserver& observer_;
  Particles particles_;
  Leapfrog leapfrog_;
  RunResult result_;
  bool kept_ = false;  ///< what could be saved after a failure has been
};

}  // namespace

std::string SnapshotPlace::path(std::int64_t step) const {
  const char* ending = format == SnapshotFormat::Hdf5 ? "hdf5" : "txt";
  return (std::filesystem::path(folder) / fmt::format("snapshot_{:08}.{}", step, ending)).string();
}

RunResult run_simulation(Snapshot& snapshot, const RunPlan& plan, const ForceLaw& forces,
                         const SnapshotPlace& place, const RunObserver& observer) {
  return Run(snapshot, plan, forces, place, observer).go();
}

}  // namespace gdr
