// `gdr run`: a kernel on numbers from text files.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/dump.hpp"
#include "libgdr/cli/json.hpp"
#include "libgdr/cli/kernel_run.hpp"
#include "libgdr/cli/nbody_report.hpp"
#include "libgdr/cli/options.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/cli/table.hpp"
#include "libgdr/cli/text.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

struct Options {
  std::string kernel, targets, sources, output, output_items, dump_file;
  std::vector<std::string> settings, dumps;
  std::size_t target_count = 1, source_count = 1;
  bool statistics = false, json = false;
  DeviceChoice device;
};

/// Values of the variables of one kind; a kernel that declares none runs on a given number of rows.
struct Input {
  std::vector<Column> columns;
  std::size_t rows = 0;
};

Input read_input(const Program& program, VarKind kind, const std::string& path, const char* option,
                 std::size_t count) {
  Input input{columns_of(program, kind), count};
  if (input.columns.empty()) {
    if (path.empty()) return input;
    throw usage_error("{} {}: kernel '{}' declares no variables of this kind", option, path,
                      program.name);
  }
  if (path.empty()) {
    std::string names;
    for (const Column& column : input.columns) names += " " + column.name;
    throw usage_error("{} is missing: give a file with the columns{}", option, names);
  }
  read_table(read_file(path), path, input.columns);
  input.rows = row_count(input.columns);
  return input;
}

/// JSON has no infinities and no NaN: they become strings, as in the tables.
template <typename Float>
Json float_json(const Column& column, std::size_t row, Float value) {
  if (!std::isfinite(value)) return value_text(column, row);
  return value;
}

Json results_json(const std::vector<Column>& results) {
  Json json = Json::object();
  for (const Column& column : results) {
    auto values = Json::array();
    for (std::size_t row = 0; row < column.size(); ++row) {
      const std::uint64_t bits = column.words[2 * row];
      if (column.type == HostNumber::F64)
        values.push_back(float_json(column, row, std::bit_cast<double>(bits)));
      else if (column.type == HostNumber::F32)
        values.push_back(
            float_json(column, row, std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
      else if (column.type == HostNumber::I64)
        values.push_back(static_cast<std::int64_t>(bits));
      else
        values.push_back(value_text(column, row));
    }
    json[column.name] = std::move(values);
  }
  return json;
}

void write_json(const Options& options, const KernelRun& run, const std::vector<Column>& results) {
  Json json{{"kernel", run.program().name},
            {"clocks_per_interaction", run.program().clocks_per_interaction()},
            {"statistics", statistics_json(run.statistics())}};
  if (options.output.empty()) json["results"] = results_json(results);
  if (options.output_items.empty() && !run.outputs().empty())
    json["items"] = results_json(run.outputs());
  print_json(json);
}

int run_kernel(const Options& options) {
  KernelRun run(options.device);
  run.load(options.kernel);
  std::vector<DumpRequest> dumps;
  for (const std::string& text : options.dumps) dumps.push_back(parse_dump(text, run.program()));
  for (const std::string& setting : options.settings) run.set(setting);
  const Input targets = read_input(run.program(), VarKind::Target, options.targets, "--targets",
                                   options.target_count);
  const Input sources = read_input(run.program(), VarKind::Source, options.sources, "--sources",
                                   options.source_count);
  for (const std::string& file : {options.output, options.output_items}) {
    if (!file.empty() && file != "-") check_writable(file);
  }

  const std::vector<Column> results =
      run.run(targets.columns, targets.rows, sources.columns, sources.rows);
  std::string dumped;
  for (const DumpRequest& dump : dumps) dumped += dump_text(dump, run.chip(dump.board, dump.chip));
  // JSON alone on standard output; a table there only where no file was named.
  if (!options.json || !options.output.empty()) write_text(options.output, write_table(results));
  const bool has_items = !run.outputs().empty();
  if (has_items && (!options.json || !options.output_items.empty())) {
    write_text(options.output_items, write_table(run.outputs()));
  }
  if (options.json) write_json(options, run, results);
  if (!dumps.empty()) write_text(options.dump_file, dumped);
  if (options.statistics)
    note(statistics_text(run.statistics(), run.program().clocks_per_interaction()));
  return 0;
}

int run(const Options& options) {
  const bool stdout_taken =
      options.output == "-" || (!options.dumps.empty() && options.dump_file.empty());
  if (options.json && stdout_taken)
    throw usage_error("--json prints to standard output: give --output and --dump-file a file");
  return run_kernel(options);
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("KERNEL", options.kernel, "object file (.gdo) or source (.gds)")->required();
  app.add_option("--targets", options.targets, "targets: a column for each ivar")
      ->type_name("FILE");
  app.add_option("--sources", options.sources, "sources: a column for each jvar")
      ->type_name("FILE");
  add_repeatable(app, "--set", options.settings, "value of a param", "NAME=VALUE");
  app.add_option("-o,--output", options.output,
                 "results: a column for each fvar (default: print them)")
      ->type_name("FILE");
  app.add_option("--outputs", options.output_items,
                 "output items: a column for each ovar, a row a source (default: print them)")
      ->type_name("FILE");
  add_whole_number(app, "--target-count", options.target_count,
                   "number of targets of a kernel without ivars (default 1)");
  add_whole_number(app, "--iterations", options.source_count,
                   "iterations of the loop of a kernel without jvars (default 1)");
  add_repeatable(app, "--dump", options.dumps,
                 "memory after the run: MEMORY[:RANGE][:PE,BLOCK[,CHIP[,BOARD]]][:FORMAT]", "SPEC");
  app.add_option("--dump-file", options.dump_file, "file for dumps (default: print them)")
      ->type_name("FILE");
  app.add_flag("--stats", options.statistics, "clocks, traffic, predicted time, on standard error");
  add_json_option(app, options.json);
  add_device_options(app, options.device);
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_options(app, *options);
  return [options] { return run(*options); };
}

const Registration registration{
    {.name = "run",
     .summary = "run a kernel on numbers from text files",
     .example = "gdr run gravity.gdo --targets targets.txt --sources sources.txt --set eps2=1e-4 "
                "-o forces.txt\n"
                "gdr run gravity.gds --targets targets.txt --sources sources.txt --dump "
                "lm:0..30:*,0:float",
     .group = Group::Kernels,
     .prepare = prepare,
     .details =
         "Files hold whitespace-separated columns in the order of the kernel's declarations; #\n"
         "begins a comment. Results have 17 significant digits; in JSON, inf and nan are "
         "strings.\n\n"
         "A dump names a MEMORY: r lr (registers), m lm (local memory), t th tl (T), b lb\n"
         "(broadcast memory), mask, where l means long words, or a declared variable. RANGE is\n"
         "an address or FIRST..LAST, in shorts (of T: elements); PE,BLOCK may be * (default\n"
         "0,0); FORMAT is hex, float, int or fixed.N (N bits below the binary point)."}};

}  // namespace
}  // namespace gdr::cli
