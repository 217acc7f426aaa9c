// `gdr nbody`: integrates the particles of a snapshot, every force computed by the device.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "emulator/host/stopwatch.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/nbody_report.hpp"
#include "libgdr/cli/ranks.hpp"
#include "libgdr/cli/snapshot_choice.hpp"
#include "libgdr/cli/trace.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli::nbody_command {
namespace {

struct Options {
  SnapshotChoice snapshot;
  std::string folder = "nbody-out", format, integrator, trace;
  RunRequest request;
  DeviceChoice device;
  bool json = false, compare = false;
};

SnapshotFormat format_from(const Options& options) {
  if (options.format.empty()) return snapshot_format(options.snapshot.file);
  for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text})
    if (options.format == format_name(format)) return format;
  throw usage_error("--format '{}': must be hdf5 or text", options.format);
}

/// Print notes about the input on standard error.
void give_notes(const Snapshot& snapshot, const RunPlan& plan, const RunRequest& request) {
  if (snapshot.type_counts.at(0) > 0) note("gdr: particles of type 0 (gas) feel gravity only");
  const auto box = snapshot.header.find("BoxSize");
  if (box != snapshot.header.end() &&
      std::ranges::any_of(box->second, [](double x) { return x != 0; }))
    note(fmt::format("gdr: BoxSize {} is not used: boundaries are open",
                     fmt::join(box->second, ", ")));
  // Rounding of the time itself is not reported.
  if (std::abs(plan.end_time() - *request.end_time) > 0.01 * plan.start.time_step)
    note(fmt::format("gdr: --dt {} does not divide the time: the run ends at {}",
                     plan.start.time_step, time_text(plan.end_time(), plan.start.time_step)));
}

void print_beginning(const Options& options, const Snapshot& snapshot, const RunPlan& plan,
                     const Device& device) {
  const RunState& start = plan.start;
  const auto shown = [&](double time) { return time_text(time, start.time_step); };
  if (is_quiet()) {
    print("{}", energy_heading());
    return;
  }
  print("{}: {} particles, t = {}\n", options.snapshot.file, snapshot.size(), shown(snapshot.time));
  print("{}\n", device.description());
  const bool blocks = start.integrator == IntegratorKind::Hermite4;
  print("{}: {} steps of {}{} to t = {}, eps {}{}{}\n\n", integrator_name(start.integrator),
        plan.steps(), start.time_step,
        blocks ? fmt::format(" in block steps, eta {},", start.eta) : "", shown(plan.end_time()),
        start.softening,
        start.accuracy > 0 ? fmt::format(", accuracy of forces {:g}", start.accuracy) : "",
        plan.restarted ? fmt::format(", continuing from step {:.12g}",
                                     static_cast<double>(start.step) + start.fraction)
                       : "");
  print("{}", energy_heading());
  flush_output();
}

/// A note if the energy is so far from the first one that the orbits are meaningless.
void warn_of_energy_error(const RunResult& result) {
  constexpr double largest = 0.1;
  if (result.records.empty()) return;
  const double energy = std::abs(result.end.start_energy);
  const double change = result.largest_error * (energy > 0 ? energy : 1);
  const double size = std::max(energy, std::abs(result.records.front().values.potential));
  if (std::isfinite(change) && change <= largest * size) return;
  note(fmt::format(
      "gdr: warning: the total energy changed by up to {:.3g} of its size: the result "
      "is not an orbit of these particles; use a smaller {}, or a larger --eps",
      change / size, result.end.integrator == IntegratorKind::Leapfrog ? "--dt" : "--eta or --dt"));
}

/// Updates a progress bar over the steps of a run.
std::function<void(double)> shown_in(Progress& progress, const RunPlan& plan) {
  return [&progress, first = static_cast<double>(plan.start.step)](double steps) {
    progress.update(steps - first);
  };
}

/// The integrator of a run whose forces are those of the device; `use` is told of trees.
std::unique_ptr<Integrator> integrator_on(Device& device, const Snapshot& snapshot,
                                          const RunPlan& plan, TreeUse& use) {
  const RunState& start = plan.start;
  if (start.integrator == IntegratorKind::Hermite4)
    return hermite_integrator(device, snapshot, start, plan.restarted);
  if (start.accuracy == 0)
    return leapfrog_integrator(snapshot, start.time_step,
                               device_forces(device, start.softening, start.gravity));
  return leapfrog_integrator(
      snapshot, start.time_step,
      tree_forces(device, start.softening, start.gravity, tree_request(plan), use), &use);
}

/// The same with forces in double on the host. The native engine computes those of the Hermite
/// scheme, which need jerks.
std::unique_ptr<Integrator> integrator_in_double(std::optional<Device>& native,
                                                 const Snapshot& snapshot, const RunPlan& plan) {
  const RunState& start = plan.start;
  if (start.integrator == IntegratorKind::Hermite4) {
    native = Device::open("emulator:engine=native");
    return hermite_integrator(*native, snapshot, start, plan.restarted);
  }
  return leapfrog_integrator(snapshot, start.time_step,
                             host_forces(start.softening, start.gravity));
}

/// The same integration with forces in double on the host, compared with the device's `end`.
/// Nothing if it is interrupted.
std::optional<Comparison> compare(Snapshot snapshot, RunPlan plan, const Snapshot& end, bool show) {
  plan.last_step = end.run->step;
  plan.start.accuracy = 0;
  Progress progress("in double", static_cast<double>(plan.steps()), show);
  RunObserver observer;
  observer.progress = shown_in(progress, plan);
  observer.stop_requested = [] { return InterruptGuard::received() != 0; };
  std::optional<Device> native;
  const auto integrator = integrator_in_double(native, snapshot, plan);
  const RunResult result = run_simulation(snapshot, plan, *integrator, {}, observer);
  if (result.stopped) return {};
  double sum = 0;
  for (std::size_t k = 0; k < end.position.size(); ++k)
    sum += std::pow(end.position[k] - snapshot.position[k], 2);
  return Comparison{result.records.back().energy_error, result.largest_error, result.seconds,
                    std::sqrt(sum / static_cast<double>(end.size()))};
}

/// Collective: the signal that ends the run, on whichever rank it arrived; 0 for none.
int signal_on_ranks() {
  const auto own = static_cast<std::uint64_t>(InterruptGuard::received());
  return static_cast<int>(std::ranges::max(gather_from_ranks({own})));
}

/// Integrate as planned in the report, which gets the result; `signal` becomes the signal that
/// stopped the run, if there was one.
void integrate(const Options& options, Snapshot& snapshot, NbodyReport& report, Device& device,
               const SnapshotOutput& place, Trace& trace, int& signal) {
  const RunPlan& plan = report.plan;
  Progress progress("gdr nbody", static_cast<double>(plan.steps()));
  RunObserver observer;
  // All ranks stop after the same step.
  observer.stop_requested = [&] {
    signal = signal_on_ranks();
    return signal != 0;
  };
  observer.progress = shown_in(progress, plan);
  observer.parts = [&](const char* part, double begin, double end) {
    trace.part("integrator", part, begin, end);
  };
  if (!options.json)
    observer.energies = [&](const EnergyRecord& record) {
      progress.clear();
      print("{}", energy_line(record, plan.start.time_step));
      flush_output();  // for readers of a log file
    };
  const Stopwatch watch;
  const auto integrator = integrator_on(device, snapshot, plan, report.trees);
  report.result = run_simulation(snapshot, plan, *integrator, place, observer);
  report.seconds = watch.seconds();
}

/// Costs on one chip and on one board: from the statistics of the device if it is that board, else
/// by computing the forces once.
void predict(const Options& options, const Snapshot& snapshot, NbodyReport& report) {
  const DeviceChoice& choice = options.device;
  const double eps = report.plan.start.softening;
  report.one_chip =
      predict_force_cost(choice.device, choice, 1, snapshot.position, snapshot.mass, eps);
  report.one_board =
      is_default_board(choice.device)
          ? force_cost(report.statistics)
          : predict_force_cost(choice.device, choice, 4, snapshot.position, snapshot.mass, eps);
}

int work(const Options& options) {
  NbodyReport report;
  Snapshot snapshot;
  Device device = open_and_read(options.device, [&] {
    snapshot = read_chosen_snapshot(options.snapshot, Velocities::Needed);
    RunRequest request = options.request;
    if (!options.integrator.empty()) request.integrator = parse_integrator(options.integrator);
    report.plan = plan_run(snapshot, request);
  });
  if (device.ranks() > 1) {
    const RunPlan& plan = report.plan;
    const RunState& start = plan.start;
    Hash times;
    times.add(start.start_time).add(start.time_step).add(start.step).add(plan.last_step);
    times.add(plan.snapshot_every).add(plan.energy_every);
    require_same_on_ranks(
        {{"has read other particles", hash_of(snapshot)},
         {"has another --eps, --G or --accuracy",
          Hash().add(start.softening).add(start.gravity).add(start.accuracy)},
         {"has another --integrator, --eta, --eta-start or --dt-min",
          Hash()
              .add(static_cast<std::int64_t>(start.integrator))
              .add(start.eta)
              .add(start.eta_start)
              .add(start.smallest_step)},
         {"has another --dt, --t-end, --snapshot-every or --energy-every", times}});
  }
  const SnapshotOutput place = snapshot_place(options.folder, format_from(options));
  on_all_ranks([&] {
    if (is_first_rank()) make_writable_folder(options.folder);
  });
  give_notes(snapshot, report.plan, options.request);
  if (!options.json) print_beginning(options, snapshot, report.plan, device);

  const InterruptGuard guard;
  const Snapshot begin = snapshot;
  report.file = options.snapshot.file;
  report.particles = snapshot.size();
  report.device = device.description();
  int signal = 0;
  Trace trace(device, options.trace, options.snapshot.file);
  integrate(options, snapshot, report, device, place, trace, signal);
  report.statistics = device.statistics();
  const bool blocks = report.plan.start.integrator == IntegratorKind::Hermite4;
  report.clocks_per_interaction = Kernel::builtin(report.result.kernel).clocks_per_interaction();
  verbose("kernel", "{} of the library", report.result.kernel);
  report.ranks = rank_reports(device);
  report.statistics = sum_over_ranks(report.statistics, report.ranks);
  // The costs of block steps and of trees are not those of direct sums of all particles.
  const bool trees = report.plan.start.accuracy > 0;
  if (device.ranks() == 1 && !blocks && !trees) predict(options, snapshot, report);
  if (options.compare && !report.result.stopped && is_first_rank())
    report.comparison = compare(begin, report.plan, snapshot, !options.json);
  if (options.json)
    print_json(report_json(report));
  else
    print("{}", report_text(report));
  if (is_first_rank()) warn_of_energy_error(report.result);
  trace.write();  // after the report, which an error there must not lose
  if (report.result.stopped) return 128 + signal;
  const bool cut_short = options.compare && is_first_rank() && !report.comparison;
  return cut_short ? 128 + InterruptGuard::received() : 0;
}

void add_interval(CLI::App& app, const std::string& name, std::optional<Interval>& value,
                  const std::string& description) {
  const auto take = [&value, name](const std::string& text) { value = parse_interval(name, text); };
  app.add_option_function<std::string>(name, take, description)->type_name("INTERVAL");
}

void add_options(CLI::App& app, Options& options) {
  add_snapshot_options(app, options.snapshot);
  add_number(app, "--eps", options.request.softening, "LENGTH",
             "softening length, at least 0 (default: that of a run that continues, else 0)");
  add_text(app, "--integrator", options.integrator, "leapfrog|hermite4",
           "integration scheme (default: leapfrog, or that of FILE's run)");
  add_number(app, "--dt", options.request.time_step, "TIME",
             "time step, above 0; with hermite4 the largest one");
  add_number(app, "--t-end", options.request.end_time, "TIME", "time at which to end");
  add_number(app, "--eta", options.request.eta, "ETA",
             "hermite4: accuracy of the steps, above 0 (default: 0.02)");
  add_number(app, "--eta-start", options.request.eta_start, "ETA",
             "hermite4: accuracy of the first steps (default: half of --eta)");
  add_number(app, "--dt-min", options.request.smallest_step, "TIME",
             "hermite4: shortest step (default: no limit)");
  add_number(app, "--G", options.request.gravity, "G",
             "constant of gravity in the units of the file (default: 1)");
  add_number(app, "--accuracy", options.request.accuracy, "ERROR",
             "relative error of accelerations, with trees for many particles "
             "(default: 0, direct sums, or that of FILE's run)");
  add_text(app, "--out", options.folder, "DIR",
           "folder for snapshots, created if missing (default: nbody-out)");
  add_interval(app, "--snapshot-every", options.request.snapshot_every,
               "write snapshots at this interval: a time, or 64steps (default: the end only)");
  add_interval(app, "--energy-every", options.request.energy_every,
               "print energies at this interval (default: a sixteenth of the run)");
  add_text(app, "--format", options.format, "hdf5|text",
           "format of snapshots (default: text of text, else hdf5)");
  app.add_flag("--compare", options.compare,
               "integrate in double on the host too, and show both energy drifts");
  add_trace_option(app, options.trace);
  add_device_options(app, options.device);
  add_json_option(app, options.json);
}

constexpr std::string_view details =
    R"(leapfrog (kick, drift, kick) has a fixed step and is of second order. hermite4 is of fourth
order, with a step for each particle: --dt divided by a power of two, by the Aarseth
criterion. Its energies and snapshots are at multiples of --dt.

With --accuracy, such as 1e-3, forces of more than some 10000 particles take O(n log n): a tree
replaces clusters of distant particles by a few. Errors are measured on a sample of particles in
every step; the report has the largest. Energies have the potentials of the tree, too. With
hermite4 large blocks have trees: use 1e-4 or below, and many more particles.

Snapshots know all that a run needs: one that starts from a snapshot continues with the same
bits as if it had never stopped. Ctrl-C ends the run after the current step (hermite4: block
step), with a snapshot, a report and exit status 130 (143 for SIGTERM, 129 for SIGHUP). Where
--dt does not divide the time, the run ends at the first step that reaches --t-end.)";

const Registration registration{
    {.name = "nbody",
     .summary = "integrate a star cluster from a snapshot",
     .example = "gdr nbody examples/data/plummer_1024.hdf5 --eps 0.015625 --dt 0.0009765625 "
                "--t-end 1 --out run1\n"
                "gdr nbody run1/snapshot_00001024.hdf5 --t-end 2 --out run1\n"
                "gdr nbody run1/snapshot_00001024.hdf5 --integrator hermite4 --dt 0.0625 --t-end 3",
     .group = Group::Simulation,
     .prepare = prepare<Options, add_options, work>,
     .details = details}};

}  // namespace
}  // namespace gdr::cli::nbody_command
