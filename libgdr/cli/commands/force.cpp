// `gdr force`: accelerations and potentials of a snapshot's particles.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/nbody_report.hpp"
#include "libgdr/cli/ranks.hpp"
#include "libgdr/cli/snapshot_choice.hpp"
#include "libgdr/cli/watched.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/forces.hpp"
#include "libgdr/nbody/kernel_forces.hpp"

namespace gdr::cli::force_command {
namespace {

struct Options {
  SnapshotChoice snapshot;
  std::string output, kernel = "gravity";
  double eps = 0, gravity = 1;
  std::optional<double> accuracy;
  std::vector<std::string> settings;
  DeviceChoice device;
  bool json = false;
};

/// Acceleration and potential by the library's class for gravity, whose errors name particles.
/// To an accuracy, if there is one; `use` is told of it.
std::vector<ForceDataset> gravity(Device& device, const Snapshot& snapshot, const Options& options,
                                  TreeUse& use) {
  const std::size_t n = snapshot.size();
  std::vector<ForceDataset> list = {{"Acceleration", 3, std::vector<double>(3 * n), {}},
                                    {"Potential", 1, std::vector<double>(n), {}}};
  const ForceLaw law = options.accuracy ? tree_forces(device, options.eps, options.gravity,
                                                      {*options.accuracy, 0, {}}, use)
                                        : device_forces(device, options.eps, options.gravity);
  law(snapshot.position, snapshot.mass, list[0].numbers, list[1].numbers);
  return list;
}

bool is_plain_gravity(const Options& options) {
  return options.kernel == "gravity" && options.settings.empty();
}

std::vector<ForceDataset> compute(Device& device, const Options& options, const Kernel& kernel,
                                  const Snapshot& snapshot, TreeUse& use) {
  if (is_plain_gravity(options)) return gravity(device, snapshot, options, use);
  KernelSettings settings{options.eps, options.gravity, {}};
  for (const std::string& text : options.settings) {
    const Setting s = split_setting("--set", text);
    settings.values.emplace_back(s.name, parse_number("--set " + s.name, s.value));
  }
  return kernel_forces(device, kernel, snapshot, settings);
}

/// Half the sum of mass times potential; nothing without a potential.
std::optional<double> potential_energy(const Snapshot& snapshot,
                                       const std::vector<ForceDataset>& list) {
  const auto potential = std::ranges::find(list, "Potential", &ForceDataset::name);
  if (potential == list.end()) return {};
  double energy = 0;
  for (std::size_t i = 0; i < snapshot.size(); ++i)
    energy += 0.5 * snapshot.mass[i] * potential->numbers[i];
  return energy;
}

void report(const Options& options, const Snapshot& snapshot, const ForceOrigin& origin,
            const std::vector<ForceDataset>& results, const TreeUse& use, Device& device,
            double clocks) {
  const std::vector<RankReport> ranks = rank_reports(device);
  const Statistics statistics = sum_over_ranks(device.statistics(), ranks);
  const std::optional<double> energy = potential_energy(snapshot, results);
  if (options.json) {
    Json object = {{"file", options.snapshot.file},   {"output", options.output},
                   {"particles", snapshot.size()},    {"time", snapshot.time},
                   {"softening", origin.softening},   {"G", origin.gravity},
                   {"kernel", origin.kernel},         {"device", device.description()},
                   {"clocks_per_interaction", clocks}};
    if (energy) object["potential_energy"] = *energy;
    if (options.accuracy) object["tree"] = trees_json(use, *options.accuracy);
    object.update(statistics_json(statistics));
    if (!ranks.empty()) object["ranks"] = ranks_json(ranks);
    print_json(object);
    return;
  }
  if (!is_quiet()) {
    print("{}: {} particles, eps {}\n", options.snapshot.file, snapshot.size(), origin.softening);
    print("{}\n", device.description());
    if (options.accuracy) print("{}", trees_text(use, *options.accuracy, use.seconds));
    print("{}", statistics_text(statistics, clocks));
    print("{}", ranks_text(ranks));
  }
  if (energy) print("potential energy   {:.10g}\n", *energy);
  if (!is_quiet()) print("written            {}\n", options.output);
}

void check_accuracy(const Options& options) {
  if (!options.accuracy) return;
  if (!(*options.accuracy > 0 && *options.accuracy < 1))
    throw usage_error("--accuracy: expected above 0 and below 1, got {}", *options.accuracy);
  if (!is_plain_gravity(options))
    throw usage_error("--accuracy: trees are for the kernel gravity; leave out --kernel and --set");
}

int work(const Options& options) {
  if (options.eps < 0) throw usage_error("--eps: the softening length must be at least 0");
  if (options.gravity <= 0) throw usage_error("--G: the constant of gravity must be above 0");
  check_accuracy(options);
  const Kernel given = find_kernel(options.kernel);
  Snapshot snapshot;
  Device device = open_and_read(options.device, [&] {
    snapshot = read_chosen_snapshot(
        options.snapshot, needs_velocities(given) ? Velocities::Needed : Velocities::Ignored);
    if (!is_first_rank()) return;
    refuse_same_file(options.snapshot.file, options.output);
    check_writable(options.output);
  });
  const Kernel kernel =
      watched([&](const std::stop_token& stop, const std::function<void(double)>& progress) {
        return device.prepare(given, stop, progress);
      });
  if (device.ranks() > 1) {
    Hash law;
    law.add(std::string_view(kernel.name())).add(std::span(kernel.program_object()));
    for (const std::string& setting : options.settings) law.add(std::string_view(setting));
    require_same_on_ranks(
        {{"has another --kernel or --set", law},
         {"has another --eps, --G or --accuracy",
          Hash().add(options.eps).add(options.gravity).add(options.accuracy.value_or(0))},
         {"has read other particles", hash_of(snapshot)}});
  }
  std::vector<ForceDataset> results;
  TreeUse use;
  on_all_ranks([&] { results = compute(device, options, kernel, snapshot, use); });
  const ForceOrigin origin{options.eps,
                           options.gravity,
                           kernel.name(),
                           device.statistics().engine,
                           std::filesystem::path(options.snapshot.file).filename().string(),
                           options.accuracy.value_or(0),
                           use.error};
  on_all_ranks([&] {
    if (is_first_rank()) write_forces(options.output, snapshot, origin, results);
  });
  report(options, snapshot, origin, results, use, device, kernel.clocks_per_interaction());
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  add_snapshot_options(app, options.snapshot);
  add_number(app, "--eps", options.eps, "LENGTH", "softening length, at least 0 (default: 0)");
  add_text(app, "-o,--output", options.output, "OUT.hdf5", "HDF5 file for the forces")->required();
  add_number(app, "--G", options.gravity, "G",
             "constant of gravity in the units of the file (default: 1)");
  add_number(app, "--accuracy", options.accuracy, "ERROR",
             "relative error of accelerations, with a tree for many particles (default: direct "
             "sums)");
  add_text(app, "--kernel", options.kernel, "KERNEL",
           "kernel of the library, or a file .gdk, .gds, .gdo (default: gravity)");
  add_repeatable(app, "--set", options.settings,
                 "value of a parameter, or of a variable for all particles", "NAME=VALUE");
  add_device_options(app, options.device);
  add_json_option(app, options.json);
}

const Registration registration{
    {.name = "force",
     .summary = "accelerations and potentials of a snapshot's particles",
     .example = "gdr force examples/data/plummer_1024.hdf5 --eps 0.015625 -o forces.hdf5\n"
                "gdr force examples/data/plummer_1024.hdf5 --eps 0.015625 --kernel gravity_jerk "
                "-o forces.hdf5",
     .group = Group::Simulation,
     .prepare = prepare<Options, add_options, work>,
     .details =
         "Writes the float64 datasets Acceleration (n, 3) and Potential (n), and ParticleIDs (n),\n"
         "at the root of OUT.hdf5, in the order of the snapshot: PartType0 first, then PartType1,\n"
         "and so on. Potential is -sum over j != i of G m_j / sqrt(r^2 + eps^2). With --exact\n"
         "the bits are the same with every instruction set and number of threads.\n\n"
         "With --accuracy, such as 1e-3, forces of more than some 10000 particles take\n"
         "O(n log n): a tree replaces clusters of distant particles by a few. The error (root\n"
         "mean square) is measured on a sample of particles; the report and the attribute\n"
         "`error` of the file have it.\n\n"
         "Other kernels declare what their variables hold, as in `VARI xi, yi, zi as pos;`: pos,\n"
         "vel, mass, id, index, acc (by the kernel gravity), and eps. Variables that declare\n"
         "none of these need --set. Their results are written as Acceleration, Potential, Jerk,\n"
         "Snap, PostNewtonian, or under their own names; the elements of an array NAME as NAME\n"
         "(n, elements), the entries of a list as NAME_list, -1 behind the last. Sources are\n"
         "numbered from 0 in the order of the snapshot."}};

}  // namespace
}  // namespace gdr::cli::force_command
