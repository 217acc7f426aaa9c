// `gdr force`: accelerations and potentials of a snapshot's particles.
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/nbody_report.hpp"
#include "libgdr/cli/options.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/force_file.hpp"
#include "libgdr/nbody/forces.hpp"

namespace gdr::cli {
namespace {

struct Options {
  std::string file, output, eps, gravity = "1";
  DeviceChoice device;
  bool json = false;
};

/// Everything that can be wrong with the place of the result is found before the work.
void check_output(const Options& options) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options.file, options.output, ignored))
    throw Error(ErrorCategory::Usage,
                fmt::format("-o '{}' is the snapshot itself; name another file", options.output));
  check_writable(options.output);
}

void report(const Options& options, const Snapshot& snapshot, const ForceOrigin& origin,
            double potential_energy, const Device& device) {
  const Statistics statistics = device.statistics();
  const double clocks = Kernel::builtin(origin.kernel).clocks_per_interaction();
  if (options.json) {
    nlohmann::ordered_json object = {
        {"file", options.file},           {"output", options.output},
        {"particles", snapshot.size()},   {"time", snapshot.time},
        {"softening", origin.softening},  {"G", origin.gravity},
        {"kernel", origin.kernel},        {"potential_energy", potential_energy},
        {"device", device.description()}, {"clocks_per_interaction", clocks}};
    object.update(statistics_json(statistics));
    print("{}\n", object.dump(2));
    return;
  }
  print("{}: {} particles, eps {}\n", options.file, snapshot.size(), origin.softening);
  print("{}\n", device.description());
  print("{}", statistics_text(statistics, clocks));
  print("potential energy   {:.10g}\n", potential_energy);
  print("written            {}\n", options.output);
}

int work(const Options& options) {
  const double eps = parse_number("--eps", options.eps);
  const double gravity = parse_number("--G", options.gravity);
  if (eps < 0) throw Error(ErrorCategory::Usage, "--eps: a length of at least 0 is wanted");
  if (gravity <= 0) throw Error(ErrorCategory::Usage, "--G: a number above 0 is wanted");
  const Snapshot snapshot = read_snapshot(options.file, Velocities::Ignored);
  check_output(options);
  Device device = open_device(options.device);

  std::vector<double> acceleration(3 * snapshot.size()), potential(snapshot.size());
  device_forces(device, eps, gravity)(snapshot.position, snapshot.mass, acceleration, potential);
  double energy = 0;
  for (std::size_t i = 0; i < snapshot.size(); ++i) energy += 0.5 * snapshot.mass[i] * potential[i];

  const ForceOrigin origin{eps, gravity, "gravity", device.statistics().engine,
                           std::filesystem::path(options.file).filename().string()};
  write_forces(options.output, snapshot, origin, acceleration, potential);
  report(options, snapshot, origin, energy, device);
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
  add_device_options(app, options->device);
  add_json_option(app, options->json);
  return [options] { return work(*options); };
}

const Registration registration{
    {.name = "force",
     .summary = "accelerations and potentials of a snapshot's particles",
     .example = "gdr force examples/data/plummer_1024.hdf5 --eps 0.015625 -o forces.hdf5",
     .group = Group::Simulation,
     .prepare = prepare,
     .details =
         "Writes the float64 datasets Acceleration (n, 3) and Potential (n), and ParticleIDs (n),\n"
         "at the root of OUT.hdf5, in the order of the snapshot: PartType0 first, then PartType1,\n"
         "and so on. Potential is -sum over j != i of G m_j / sqrt(r^2 + eps^2). Exact numerics:\n"
         "the same bits with every engine, instruction set and number of threads."}};

}  // namespace
}  // namespace gdr::cli
