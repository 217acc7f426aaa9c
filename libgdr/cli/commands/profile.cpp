// `gdr profile`: where the time of a job goes, and what to change.
#include "libgdr/cli/profile.hpp"

#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "emulator/host/stopwatch.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/trace.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/self_test.hpp"

namespace gdr::cli::profile_command {
namespace {

struct Options {
  std::string kernel = "gravity", svg, trace;
  std::size_t targets = 8192, sources = 8192, runs = 5;
  std::vector<std::string> settings;
  bool resident = false, json = false;
  DeviceChoice device;
};

/// Values of the variables of one role: numbers between 0 and 1, and integers that count. The same
/// ones each time.
class Values {
 public:
  Values(const Kernel& kernel, Role role, std::size_t n) {
    std::mt19937_64 random(1);
    for (const KernelVariable& variable : kernel.variables()) {
      if (variable.role != role) continue;
      if (variable.type == HostNumber::Raw)
        throw usage_error("{} has the raw variable '{}', for which there are no typical values",
                          kernel.name(), variable.name);
      // One buffer of words serves all types.
      std::vector<std::uint64_t>& words = words_.emplace_back(n);
      ConstArray array(reinterpret_cast<const double*>(words.data()));
      for (std::size_t k = 0; k < n; ++k) {
        const double number = static_cast<double>(random() >> 11) * 0x1p-53;
        if (variable.type == HostNumber::I64)
          words[k] = k;
        else if (variable.type == HostNumber::F32)
          words[k] = std::bit_cast<std::uint32_t>(static_cast<float>(number));
        else
          words[k] = std::bit_cast<std::uint64_t>(number);
      }
      array.type = variable.type;
      array.stride = sizeof(std::uint64_t);
      arrays_.push_back({variable.name, array});
    }
  }
  std::span<const NamedInput> arrays() const noexcept { return arrays_; }

 private:
  std::vector<std::vector<std::uint64_t>> words_;
  std::vector<NamedInput> arrays_;
};

/// Arrays for all results of n targets, and all outputs of m sources.
class Results {
 public:
  Results(const Kernel& kernel, std::size_t n, std::size_t m) {
    for (const KernelVariable& variable : kernel.variables()) {
      if (variable.role != Role::Result && variable.role != Role::Output) continue;
      const std::size_t count = variable.role == Role::Result ? n : m;
      std::vector<std::uint64_t>& words = words_.emplace_back(2 * count);
      MutableArray array(reinterpret_cast<double*>(words.data()));
      array.type = variable.type;
      array.stride = 2 * sizeof(std::uint64_t);
      arrays_.push_back({variable.name, array});
    }
  }
  std::span<const NamedResult> arrays() const noexcept { return arrays_; }

 private:
  std::vector<std::vector<std::uint64_t>> words_;
  std::vector<NamedResult> arrays_;
};

void check_files(const Options& options) {
  if (!options.svg.empty() && options.svg == options.trace)
    throw usage_error("--svg and --trace name the same file, '{}'", options.svg);
  if (!options.svg.empty()) check_result_file("--svg", options.svg, options.kernel);
  if (!options.trace.empty()) check_result_file("--trace", options.trace, options.kernel);
}

int work(const Options& options) {
  check_files(options);
  Device device = open_device(options.device, EngineUse::Machine);
  if (device.ranks() > 1)
    throw usage_error("gdr profile runs on one process; gdr nbody --trace shows many ranks");
  const Kernel kernel = find_kernel(options.kernel);
  Job job = device.job(kernel);
  for (const KernelVariable& variable : kernel.variables())
    if (variable.role == Role::Param && variable.type != HostNumber::Raw) job.set(variable.name, 1);
  for (const std::string& text : options.settings) {
    const Setting setting = split_setting("--set", text);
    job.set(setting.name, parse_number("--set " + setting.name, setting.value));
  }
  const Values targets(kernel, Role::Target, options.targets);
  const Values sources(kernel, Role::Source, options.sources);
  const Results results(kernel, options.targets, options.sources);
  const auto run = [&](bool with_sources) {
    if (with_sources) job.sources(options.sources, sources.arrays());
    job.targets(options.targets, targets.arrays());
    job.run(results.arrays());
  };
  run(true);  // loads the program, and compiles it for this host
  device.reset_statistics();
  device.record_timeline(true);
  const Stopwatch timer;
  for (std::size_t k = 0; k < options.runs; ++k) run(!options.resident);
  ProfiledJob profiled{.kernel = kernel.name(),
                       .device = device.description(),
                       .targets = options.targets,
                       .sources = options.sources,
                       .runs = options.runs,
                       .target_slots = device.target_slots(kernel),
                       .resident = options.resident,
                       .clock_hz = core_of(device)->geometry.clock_hz,
                       .pes = core_of(device)->geometry.pes(),
                       .seconds = timer.seconds(),
                       .statistics = device.statistics(),
                       .events = device.timeline()};
  const Profile profile = profile_of(profiled);
  if (!options.trace.empty()) write_trace(options.trace, profiled.events);
  if (!options.svg.empty()) write_text(options.svg, profile_svg(profiled, profile));
  if (options.json)
    print_json(profile_json(profiled, profile));
  else
    print("{}", profile_text(profiled, profile));
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("KERNEL", options.kernel, "kernel of the library, or a file (default: gravity)");
  add_whole_number(app, "--targets", options.targets, "number of targets (default: 8192)",
                   std::size_t{1}, std::size_t{1} << 30);
  add_whole_number(app, "--sources", options.sources, "number of sources (default: 8192)",
                   std::size_t{1}, std::size_t{1} << 30);
  add_whole_number(app, "--runs", options.runs, "runs after the first one (default: 5)",
                   std::size_t{1}, std::size_t{1} << 20);
  app.add_flag("--resident", options.resident, "give the sources once instead of for each run");
  add_repeatable(app, "--set", options.settings, "value of a parameter, instead of 1",
                 "NAME=VALUE");
  add_text(app, "--svg", options.svg, "FILE", "also draw the times");
  add_trace_option(app, options.trace);
  add_device_options(app, options.device);
  add_json_option(app, options.json);
}

constexpr std::string_view details =
    R"(Sources and targets are random numbers between 0 and 1; integers count from 0. Measured times
are those of this host, predicted ones those of the real board, whose parts work at the same
time. Both are means of the runs after the first one, which loads the program.)";

const Registration registration{{.name = "profile",
                                 .summary = "where the time of a job goes, and what to change",
                                 .example = "gdr profile gravity --targets 48 --sources 100000\n"
                                            "gdr profile kernels/particle/sph_force.gdk --engine "
                                            "native --svg profile.svg",
                                 .group = Group::Machine,
                                 .prepare = prepare<Options, add_options, work>,
                                 .details = details}};

}  // namespace
}  // namespace gdr::cli::profile_command
