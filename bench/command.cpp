// `gdr bench`: the benchmarks of bench/.
#include "libgdr/cli/command.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/measurement.hpp"
#include "emulator/host/threads.hpp"
#include "gdr/version.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli::bench_command {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string output;
  bench::Context context{.device = {}};
  bool json = false, list = false, accuracy = false;
};

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown processor";
}

/// The host and the device of the measurements.
Json circumstances(const bench::Context& context) {
  const Statistics s = open_device(context.device, EngineUse::Benchmark).statistics();
  return {{"version", version()},
          {"processor", processor_name()},
          {"hardware_threads", std::thread::hardware_concurrency()},
          {"engine", s.engine},
          {"isa", s.isa},
          {"threads", context.threads},
          {"seed", context.seed},
          {"repetitions", context.repetitions}};
}

std::vector<bench::NamedBenchmark> chosen(const std::vector<std::string>& names) {
  std::vector<bench::NamedBenchmark> list;
  std::vector<std::string_view> known;
  for (const auto& benchmark : bench::benchmarks()) known.push_back(benchmark.name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw usage_error("{}", unknown_name("benchmark", name, known));
  for (const auto& benchmark : bench::benchmarks())
    if ((names.empty() && !benchmark.only_by_name) ||
        std::find(names.begin(), names.end(), benchmark.name) != names.end())
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
  for (const auto& [name, value] : measurement.further)
    line += fmt::format(", {:>4} {}", value_text(value), name);
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
  for (const auto& [name, value] : measurement.further) json["further"][name] = value;
  if (measurement.required) {
    json[measurement.lower_is_better ? "at_most" : "at_least"] = *measurement.required;
    json["met"] = measurement.met().value_or(true);
  }
  return json;
}

void print_heading(const Json& about) {
  const auto text = [&](const char* name) { return about[name].get<std::string>(); };
  const auto number = [&](const char* name) { return about[name].get<std::uint64_t>(); };
  print("gdr {} on {}, {}\n", version(), text("processor"),
        counted(number("hardware_threads"), "hardware thread"));
  print("{} engine, {}, {}, seed {}, {} repetitions\n", text("engine"), text("isa"),
        counted(number("threads"), "thread"), number("seed"), number("repetitions"));
}

int list_benchmarks() {
  for (const auto& benchmark : bench::benchmarks())
    print("{:<18}{}\n", benchmark.name, benchmark.summary);
  return 0;
}

int run(const Options& options) {
  if (options.list) return list_benchmarks();
  if (!options.output.empty()) check_writable(options.output);  // before minutes of work
  bench::Context context = options.context;
  context.repetitions = std::max(1U, context.repetitions);
  context.threads = usable_threads(context.device.threads);
  std::vector<std::string> names = options.names;
  if (options.accuracy) names.insert(names.end(), {"accuracy", "numerics", "kernels"});
  const std::vector<bench::NamedBenchmark> list = chosen(names);
  for (const bench::NamedBenchmark& benchmark : list)  // before minutes of work
    if (benchmark.reads_examples && !names.empty()) bench::data_file(context, "plummer_1024.hdf5");
  Json json = circumstances(context);
  if (!options.json && !is_quiet()) print_heading(json);
  json["figures"] = Json::array();
  for (const bench::NamedBenchmark& benchmark : list) {
    if (!options.json) print("\n{}: {}\n", benchmark.name, benchmark.summary);
    if (benchmark.reads_examples && !bench::has_examples(context)) {
      if (!options.json)
        print("  left out: it needs the example snapshots of a source tree, or --data\n");
      continue;
    }
    for (const bench::Measurement& measurement : benchmark.run(context)) {
      if (!options.json) print_measurement(measurement);
      json["figures"].push_back(measurement_json(benchmark.name, measurement));
    }
  }
  if (options.json) print_json(json);
  if (!options.output.empty()) write_text(options.output, json_text(json));
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("BENCHMARK", options.names,
                 "benchmarks to run (default: all but arm- and gpu-instructions; see --list)");
  add_text(app, "-o", options.output, "FILE", "also write the results to a file, as JSON");
  app.add_flag("--accuracy", options.accuracy,
               "accuracy only: exact numerics against references, fast against exact");
  app.add_flag("--list", options.list, "print the names of the benchmarks");
  add_whole_number(app, "--seed", options.context.seed, "seed of the generated inputs (default 1)");
  add_whole_number(app, "--repetitions", options.context.repetitions, "repetitions (default 5)");
  add_text(app, "--data", options.context.data_folder, "DIR",
           "folder of the example snapshots (default examples/data)");
  add_json_option(app, options.json);
  add_device_options(app, options.context.device);
}

std::vector<std::string> words(std::string_view type) {
  std::vector<std::string> names;
  if (type == "BENCHMARK")
    for (const auto& benchmark : bench::benchmarks()) names.emplace_back(benchmark.name);
  return names;
}

const Registration registration{
    {.name = "bench",
     .summary = "measure speed and accuracy against requirements",
     .example = "gdr bench\ngdr bench gravity force-call --isa avx2 --json",
     .group = Group::Machine,
     .prepare = prepare<Options, add_options, run>,
     .details =
         "Rates are medians of several repetitions. Emulator and native loop run in alternation;\n"
         "the ratio of their best times can be compared between machines. A measurement that\n"
         "misses its requirement is marked; the exit status is 0 nevertheless.",
     .words = words}};

}  // namespace
}  // namespace gdr::cli::bench_command
