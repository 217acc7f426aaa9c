// `gdr force`: accelerations and potentials of a snapshot's particles.
#include <filesystem>
#include <memory>
#include <optional>

#include "gdr/error.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/nbody_report.hpp"
#include "libgdr/cli/options.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/cli/rank_consistency.hpp"
#include "libgdr/cli/ranks.hpp"
#include "libgdr/cli/text.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/force_file.hpp"
#include "libgdr/nbody/forces.hpp"
#include "libgdr/nbody/kernel_forces.hpp"

namespace gdr::cli {
namespace {

struct Options {
  std::string file, output, eps, gravity = "1", kernel = "gravity";
  std::vector<std::string> settings;
  DeviceChoice device;
  bool json = false;
};

const ForceDataset* find_dataset(const std::vector<ForceDataset>& list, std::string_view name) {
  for (const ForceDataset& d : list)
    if (d.name == name) return &d;
  return nullptr;
}

/// Acceleration and potential by the library's class for gravity, whose errors name particles.
std::vector<ForceDataset> gravity(Device& device, const Snapshot& snapshot, double eps, double g) {
  const std::size_t n = snapshot.size();
  std::vector<ForceDataset> list = {{"Acceleration", 3, std::vector<double>(3 * n), {}},
                                    {"Potential", 1, std::vector<double>(n), {}}};
  device_forces(device, eps, g)(snapshot.position, snapshot.mass, list[0].numbers, list[1].numbers);
  return list;
}

std::vector<ForceDataset> compute(Device& device, const Options& options, const Kernel& kernel,
                                  const Snapshot& snapshot, double eps, double g) {
  if (options.kernel == "gravity" && options.settings.empty())
    return gravity(device, snapshot, eps, g);
  KernelSettings settings{eps, g, {}};
  for (const std::string& text : options.settings) {
    const Setting s = split_setting("--set", text);
    settings.values.emplace_back(s.name, parse_number("--set " + s.name, s.value));
  }
  return kernel_forces(device, kernel, snapshot, settings);
}

/// Half the sum of mass times potential; nothing without a potential.
std::optional<double> potential_energy(const Snapshot& snapshot,
                                       const std::vector<ForceDataset>& list) {
  const ForceDataset* potential = find_dataset(list, "Potential");
  if (potential == nullptr) return {};
  double energy = 0;
  for (std::size_t i = 0; i < snapshot.size(); ++i)
    energy += 0.5 * snapshot.mass[i] * potential->numbers[i];
  return energy;
}

void report(const Options& options, const Snapshot& snapshot, const ForceOrigin& origin,
            const std::vector<ForceDataset>& results, Device& device, double clocks) {
  const std::vector<RankReport> ranks = rank_reports(device);
  const Statistics statistics = sum_over_ranks(device.statistics(), ranks);
  const std::optional<double> energy = potential_energy(snapshot, results);
  if (options.json) {
    Json object = {{"file", options.file},
                   {"output", options.output},
                   {"particles", snapshot.size()},
                   {"time", snapshot.time},
                   {"softening", origin.softening},
                   {"G", origin.gravity},
                   {"kernel", origin.kernel},
                   {"device", device.description()},
                   {"clocks_per_interaction", clocks}};
    if (energy) object["potential_energy"] = *energy;
    object.update(statistics_json(statistics));
    if (!ranks.empty()) object["ranks"] = ranks_json(ranks);
    print_json(object);
    return;
  }
  print("{}: {} particles, eps {}\n", options.file, snapshot.size(), origin.softening);
  print("{}\n", device.description());
  print("{}", statistics_text(statistics, clocks));
  print("{}", ranks_text(ranks));
  if (energy) print("potential energy   {:.10g}\n", *energy);
  print("written            {}\n", options.output);
}

int work(const Options& options) {
  const double eps = parse_number("--eps", options.eps);
  const double gravity_constant = parse_number("--G", options.gravity);
  if (eps < 0) throw usage_error("--eps: the softening length must be at least 0");
  if (gravity_constant <= 0) throw usage_error("--G: the constant of gravity must be above 0");
  const Kernel kernel = find_kernel(options.kernel);
  Snapshot snapshot;
  Device device = open_and_read(options.device, [&] {
    snapshot = read_snapshot(options.file,
                             needs_velocities(kernel) ? Velocities::Needed : Velocities::Ignored);
    if (!is_first_rank()) return;
    refuse_same_file(options.file, options.output);
    check_writable(options.output);
  });
  if (device.ranks() > 1) {
    Hash law;
    law.add(std::string_view(kernel.name())).add(std::span(kernel.object()));
    for (const std::string& setting : options.settings) law.add(std::string_view(setting));
    require_same_on_ranks({{"has another --kernel or --set", law},
                           {"has another --eps or --G", Hash().add(eps).add(gravity_constant)},
                           {"has read other particles", hash_of(snapshot)}});
  }
  std::vector<ForceDataset> results;
  on_all_ranks(
      [&] { results = compute(device, options, kernel, snapshot, eps, gravity_constant); });
  const ForceOrigin origin{eps, gravity_constant, kernel.name(), device.statistics().engine,
                           std::filesystem::path(options.file).filename().string()};
  on_all_ranks([&] {
    if (is_first_rank()) write_forces(options.output, snapshot, origin, results);
  });
  report(options, snapshot, origin, results, device, kernel.clocks_per_interaction());
  return 0;
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, "snapshot: GADGET-style HDF5, or text m x y z vx vy vz")
      ->required();
  app.add_option("--eps", options->eps, "softening length, at least 0")
      ->type_name("LENGTH")
      ->required();
  app.add_option("-o,--output", options->output, "HDF5 file for the forces")
      ->type_name("OUT.hdf5")
      ->required();
  app.add_option("--G", options->gravity,
                 "constant of gravity in the units of the file (default: 1)")
      ->type_name("G");
  app.add_option("--kernel", options->kernel,
                 "kernel of the library, or a file .gdk, .gds, .gdo (default: gravity)")
      ->type_name("NAME");
  add_repeatable(app, "--set", options->settings,
                 "value of a parameter, or of a variable for all particles", "NAME=VALUE");
  add_device_options(app, options->device);
  add_json_option(app, options->json);
  return [options] { return work(*options); };
}

const Registration registration{
    {.name = "force",
     .summary = "accelerations and potentials of a snapshot's particles",
     .example = "gdr force examples/data/plummer_1024.hdf5 --eps 0.015625 -o forces.hdf5\n"
                "gdr force examples/data/plummer_1024.hdf5 --eps 0.015625 --kernel gravity_jerk "
                "-o forces.hdf5",
     .group = Group::Simulation,
     .prepare = prepare,
     .details =
         "Writes the float64 datasets Acceleration (n, 3) and Potential (n), and ParticleIDs (n),\n"
         "at the root of OUT.hdf5, in the order of the snapshot: PartType0 first, then PartType1,\n"
         "and so on. Potential is -sum over j != i of G m_j / sqrt(r^2 + eps^2). Exact numerics:\n"
         "the same bits with every engine, instruction set and number of threads.\n\n"
         "Other kernels find their variables by name, with i or j at the end: x y z, vx vy vz, m,\n"
         "id, ax ay az (accelerations by the kernel gravity), and eps2. Their results are written\n"
         "as Acceleration, Potential, Jerk, Snap, PostNewtonian, or under their own names; the\n"
         "elements of an array NAME as NAME (n, elements), the entries of a list as NAME_list,\n"
         "-1 behind the last. Sources are numbered from 0 in the order of the snapshot."}};

}  // namespace
}  // namespace gdr::cli
