// `gdr bench`: the benchmarks of bench/.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/measurement.hpp"
#include "gdr/error.hpp"
#include "gdr/version.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/json.hpp"
#include "libgdr/cli/options.hpp"
#include "libgdr/cli/text.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string output;
  bench::Context context{.device = {}, .data_folder = "examples/data"};
  bool json = false, list = false, accuracy = false;
};

/// The host and the device of the measurements.
struct Machine {
  std::string processor, engine, isa;
  unsigned hardware_threads = 0, threads = 0;
};

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown processor";
}

Machine this_machine(const bench::Context& context) {
  const Statistics s = open_device(context.device).statistics();
  return {processor_name(), s.engine, s.isa, std::thread::hardware_concurrency(), context.threads};
}

std::vector<bench::NamedBenchmark> chosen(const std::vector<std::string>& names) {
  std::vector<bench::NamedBenchmark> list;
  std::vector<std::string_view> known;
  for (const auto& benchmark : bench::benchmarks()) known.push_back(benchmark.name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw usage_error("{}", unknown_name("benchmark", name, known));
  for (const auto& benchmark : bench::benchmarks())
    if (names.empty() || std::find(names.begin(), names.end(), benchmark.name) != names.end())
      list.push_back(benchmark);
  return list;
}

std::string value_text(double value) {
  return value != 0 && (value < 1e-2 || value >= 1e7) ? fmt::format("{:.3e}", value)
                                                      : fmt::format("{:.4g}", value);
}

std::string required_text(const bench::Measurement& measurement) {
  if (!measurement.required) return "";
  const bool met = measurement.met().value_or(true);
  return fmt::format("{} {} required: {}", measurement.lower_is_better ? "at most" : "at least",
                     value_text(*measurement.required), met ? "met" : "MISSED");
}

void print_measurement(const bench::Measurement& measurement) {
  std::string line = fmt::format("  {:<44}{:>11} {}", measurement.name,
                                 value_text(measurement.value), measurement.unit);
  std::string rest = required_text(measurement);
  if (!measurement.comment.empty()) rest += (rest.empty() ? "" : "; ") + measurement.comment;
  if (!rest.empty()) line += fmt::format("\n  {:<56}{}", "", rest);
  print("{}\n", line);
  flush_output();
}

Json measurement_json(std::string_view benchmark, const bench::Measurement& measurement) {
  Json json{{"benchmark", benchmark},
            {"name", measurement.name},
            {"value", measurement.value},
            {"unit", measurement.unit},
            {"comment", measurement.comment}};
  if (measurement.required) {
    json[measurement.lower_is_better ? "at_most" : "at_least"] = *measurement.required;
    json["met"] = measurement.met().value_or(true);
  }
  return json;
}

void print_heading(const Machine& machine, const bench::Context& context) {
  print("gdr {} on {}, {}\n", version(), machine.processor,
        counted(machine.hardware_threads, "hardware thread"));
  print("{} engine, {}, {}, seed {}, {} repetitions\n", machine.engine, machine.isa,
        counted(machine.threads, "thread"), context.seed, context.repetitions);
}

int list_benchmarks() {
  for (const auto& benchmark : bench::benchmarks())
    print("{:<12}{}\n", benchmark.name, benchmark.summary);
  return 0;
}

int run(const Options& options) {
  if (options.list) return list_benchmarks();
  if (!options.output.empty()) check_writable(options.output);  // before minutes of work
  bench::Context context = options.context;
  context.repetitions = std::max(1U, context.repetitions);
  context.threads = context.device.threads > 0 ? context.device.threads
                                               : static_cast<unsigned>(omp_get_max_threads());
  std::vector<std::string> names = options.names;
  if (options.accuracy) names.insert(names.end(), {"accuracy", "numerics", "kernels"});
  const std::vector<bench::NamedBenchmark> list = chosen(names);
  const Machine machine = this_machine(context);
  Json json{{"version", version()},
            {"processor", machine.processor},
            {"hardware_threads", machine.hardware_threads},
            {"engine", machine.engine},
            {"isa", machine.isa},
            {"threads", machine.threads},
            {"seed", context.seed},
            {"repetitions", context.repetitions},
            {"figures", Json::array()}};
  if (!options.json) print_heading(machine, context);
  for (const bench::NamedBenchmark& benchmark : list) {
    if (!options.json) print("\n{}: {}\n", benchmark.name, benchmark.summary);
    for (const bench::Measurement& measurement : benchmark.run(context)) {
      if (!options.json) print_measurement(measurement);
      json["figures"].push_back(measurement_json(benchmark.name, measurement));
    }
  }
  if (options.json) print_json(json);
  if (!options.output.empty()) write_text(options.output, json.dump(2) + "\n");
  return 0;
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->names, "benchmarks to run (default: all; see --list)");
  app.add_option("-o", options->output, "also write the results to a file, as JSON")
      ->type_name("FILE");
  app.add_flag("--accuracy", options->accuracy,
               "accuracy only: exact numerics against references, fast against exact");
  app.add_flag("--list", options->list, "print the names of the benchmarks");
  add_whole_number(app, "--seed", options->context.seed,
                   "seed of the generated inputs (default 1)");
  add_whole_number(app, "--repetitions", options->context.repetitions, "repetitions (default 5)");
  app.add_option("--data", options->context.data_folder,
                 "folder of the example snapshots (default examples/data)")
      ->type_name("DIR");
  add_json_option(app, options->json);
  add_device_options(app, options->context.device);
  return [options] { return run(*options); };
}

const Registration registration{
    {.name = "bench",
     .summary = "measure speed and accuracy against requirements",
     .example = "gdr bench\ngdr bench gravity force-call --isa avx2 --json",
     .group = Group::Machine,
     .prepare = prepare,
     .details =
         "Rates are medians of several repetitions. Emulator and native loop run in alternation;\n"
         "the ratio of their best times can be compared between machines. A measurement that\n"
         "misses its requirement is marked; the exit status is 0 nevertheless."}};

}  // namespace
}  // namespace gdr::cli
