// `gdr run`: a kernel on numbers from text files.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "gdr/kernel.hpp"
#include "gdr/statistics.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/dump.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/nbody_report.hpp"
#include "libgdr/cli/table.hpp"
#include "libgdr/cli/watched.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/openers.hpp"
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

template <typename Result>
Kernel checked_kernel(Result result, const std::string& path) {
  check_diagnostics(result, path, "");
  return Kernel(std::move(*result.program));
}

/// Read an object file (.gdo), or translate a source for this device; its diagnostics go to
/// standard error and end in Error (Program).
Kernel load_kernel(DeviceCore& device, const std::string& path) {
  verbose("kernel", "file {}", path);
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".gds") {
    AssembleOptions options;
    options.geometry = device.geometry;
    return checked_kernel(assemble_file(path, options), path);
  }
  if (ending == ".gdk") {
    CompileOptions options;
    options.geometry = device.geometry;
    options.pipeline = device.needs_schedule();
    return watched([&](const std::stop_token& stop, const std::function<void(double)>& progress) {
      options.stop = stop;
      options.progress = progress;
      return checked_kernel(compile_kernel_file(path, options), path);
    });
  }
  return Kernel(read_object_file(path));
}

/// The values of a column as an array of the library.
template <typename Array, typename AnyColumn>
Array array_of(AnyColumn& column) {
  Array array;
  array.data = column.words.data();
  array.type = column.type;
  array.stride = Column::stride;
  return array;
}

std::vector<NamedInput> inputs(const std::vector<Column>& columns) {
  std::vector<NamedInput> arrays;
  for (const Column& column : columns)
    arrays.push_back({column.name, array_of<ConstArray>(column)});
  return arrays;
}

std::vector<NamedResult> as_results(std::vector<Column>& columns, std::size_t rows) {
  std::vector<NamedResult> arrays;
  for (Column& column : columns) {
    column.words.assign(2 * rows, 0);
    arrays.push_back({column.name, array_of<MutableArray>(column)});
  }
  return arrays;
}

/// Values of the variables of one kind; a kernel that declares none runs on a given number of rows.
struct Input {
  std::vector<Column> columns;
  std::size_t rows = 0;
};

/// One run of a kernel on variables from tables, through the library's own job machinery; the state
/// of the chips can be read afterwards.
class KernelRun {
 public:
  /// Open the boards of an emulated device, and load the kernel.
  KernelRun(const DeviceChoice& choice, const std::string& path)
      : core_(open_core(parse_device_name(choice.device, choice))),
        data_(job_data(1, load_kernel(*core_, path))) {
    core_->preserve_chip_state = true;
  }

  const Program& program() const noexcept { return data_.kernel.program(); }
  const Statistics& statistics() const noexcept { return core_->statistics; }

  /// Set a param from the text of NAME=VALUE, or an array of them from NAME=VALUE,VALUE... Throws
  /// Error (Usage or Input).
  void set(const std::string& assignment);
  /// Compute; the inputs hold a column for every variable of their kind, in the order of
  /// declaration.
  void run(const Input& targets, const Input& sources);
  /// State of a chip after the run. Throws Error (Usage) for a board or chip that does not exist.
  const ChipState& chip(unsigned board, unsigned chip) const;

  std::vector<Column> results;  ///< `fvar`s after the run: a column for each, a row a target
  std::vector<Column> outputs;  ///< `ovar`s after the run: a column for each, a row a source

 private:
  std::shared_ptr<DeviceCore> core_;
  JobData data_;
};

void KernelRun::set(const std::string& assignment) {
  const Setting setting = split_setting("--set", assignment);
  const LinkGroup& group = data_.params_group;
  if (!has_fields(group, setting.name)) {
    std::vector<std::string_view> known;
    for (const LinkArray& array : group.arrays) known.push_back(array.name);
    for (const LinkField& field : group.fields) known.push_back(field.name);
    throw usage_error("--set: {}", unknown_name("param", setting.name, known));
  }
  const std::span<const LinkField> fields = fields_named(group, setting.name);
  const auto first = fields.data() - group.fields.data();
  const std::vector<Column> params = columns_of(program(), VarKind::Param);
  std::vector<Column> given(params.begin() + first,
                            params.begin() + first + static_cast<std::ptrdiff_t>(fields.size()));
  std::string values = setting.value;
  std::ranges::replace(values, ',', ' ');
  read_table(values, "--set " + assignment, given);
  if (given.front().size() != 1)
    throw usage_error("--set {}: give {}", assignment,
                      fields.size() == 1 ? std::string("one value")
                                         : std::to_string(fields.size()) + " values with commas");
  for (std::size_t k = 0; k < given.size(); ++k)
    std::ranges::copy(given[k].words,
                      data_.params.begin() + 2 * (first + static_cast<std::ptrdiff_t>(k)));
}

void KernelRun::run(const Input& targets, const Input& sources) {
  JobData& d = data_;
  check_inputs(d.targets_group, targets.rows, inputs(targets.columns), true);
  check_inputs(d.sources_group, sources.rows, inputs(sources.columns), true);
  d.target_count = targets.rows;
  pack(d.targets_group, targets.rows, inputs(targets.columns), true, d.targets, core_->threads);
  pack(d.sources_group, sources.rows, inputs(sources.columns), true, d.new_sources, core_->threads);
  d.sources.replace(sources.rows, d.sources_group.words, d.new_sources);
  results = columns_of(program(), VarKind::Result);
  bind_results(d.results_group, targets.rows, as_results(results, targets.rows), d.results);
  outputs = columns_of(program(), VarKind::Output);
  bind_results(d.outputs_group, sources.rows, as_results(outputs, sources.rows), d.outputs);
  run_job(*core_, d, {});
}

const ChipState& KernelRun::chip(unsigned board, unsigned chip) const {
  if (board >= core_->boards.size())
    throw usage_error("board {}: the device has {}", board, core_->boards.size());
  if (chip >= core_->geometry.chips_per_board)
    throw usage_error("chip {}: a board has {}", chip, core_->geometry.chips_per_board);
  const Board* const emulated = core_->boards[board].board->emulated();
  if (emulated == nullptr)
    throw Error(ErrorCategory::Unsupported,
                "memories of a chip can be dumped from the emulator in this process only: use "
                "--device emulator");
  return emulated->chip(chip);
}

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

void write_json(const Options& options, const KernelRun& run) {
  Json json{{"kernel", run.program().name},
            {"clocks_per_interaction", run.program().clocks_per_interaction()},
            {"statistics", statistics_json(run.statistics())}};
  if (options.output.empty()) json["results"] = results_json(run.results);
  if (options.output_items.empty() && !run.outputs.empty())
    json["items"] = results_json(run.outputs);
  print_json(json);
}

int run(const Options& options) {
  const bool stdout_taken =
      options.output == "-" || (!options.dumps.empty() && options.dump_file.empty());
  if (options.json && stdout_taken)
    throw usage_error("--json prints to standard output: give --output and --dump-file a file");
  KernelRun kernel(options.device, options.kernel);
  std::vector<DumpRequest> dumps;
  for (const std::string& text : options.dumps) dumps.push_back(parse_dump(text, kernel.program()));
  for (const std::string& setting : options.settings) kernel.set(setting);
  const Input targets = read_input(kernel.program(), VarKind::Target, options.targets, "--targets",
                                   options.target_count);
  const Input sources = read_input(kernel.program(), VarKind::Source, options.sources, "--sources",
                                   options.source_count);
  for (const std::string& file : {options.output, options.output_items})
    if (!file.empty() && file != "-") check_writable(file);

  kernel.run(targets, sources);
  std::string dumped;
  for (const DumpRequest& dump : dumps)
    dumped += dump_text(dump, kernel.chip(dump.board, dump.chip));
  // JSON alone on standard output; a table there only where no file was named.
  if (!options.json || !options.output.empty())
    write_text(options.output, write_table(kernel.results));
  const bool has_items = !kernel.outputs.empty();
  if (has_items && (!options.json || !options.output_items.empty()))
    write_text(options.output_items, write_table(kernel.outputs));
  if (options.json) write_json(options, kernel);
  if (!dumps.empty()) write_text(options.dump_file, dumped);
  if (options.statistics || is_verbose())
    write_error_text(
        statistics_text(kernel.statistics(), kernel.program().clocks_per_interaction()));
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("KERNEL", options.kernel, "object file (.gdo) or source (.gds)")->required();
  add_text(app, "--targets", options.targets, "FILE", "targets: a column for each ivar");
  add_text(app, "--sources", options.sources, "FILE", "sources: a column for each jvar");
  add_repeatable(app, "--set", options.settings,
                 "value of a param; of a vector, table or array x,y,...", "NAME=VALUE");
  add_text(app, "-o,--output", options.output, "FILE",
           "results: a column for each fvar (default: print them)");
  add_text(app, "--outputs", options.output_items, "FILE",
           "output items: a column for each ovar, a row a source (default: print them)");
  add_whole_number(app, "--target-count", options.target_count,
                   "number of targets of a kernel without ivars (default 1)");
  add_whole_number(app, "--iterations", options.source_count,
                   "iterations of the loop of a kernel without jvars (default 1)");
  add_repeatable(app, "--dump", options.dumps,
                 "memory after the run: MEMORY[:RANGE][:PE,BLOCK[,CHIP[,BOARD]]][:FORMAT]", "SPEC");
  add_text(app, "--dump-file", options.dump_file, "FILE", "file for dumps (default: print them)");
  app.add_flag("--stats", options.statistics, "clocks, traffic, predicted time, on standard error");
  add_json_option(app, options.json);
  add_device_options(app, options.device);
}

constexpr std::string_view details =
    R"(Files hold whitespace-separated columns in the order of the kernel's declarations, three
for a vector; # begins a comment. Results have 17 significant digits; in JSON, inf and
nan are strings.

A dump names a MEMORY: r lr (registers), m lm (local memory), t th tl (T), b lb
(broadcast memory), mask, where l means long words, or a declared variable. RANGE is
an address or FIRST..LAST, in shorts (of T: elements); PE,BLOCK may be * (default
0,0); FORMAT is hex, float, int or fixed.N (N bits below the binary point).)";

const Registration registration{
    {.name = "run",
     .summary = "run a kernel on numbers from text files",
     .example = "gdr run gravity.gdo --targets targets.txt --sources sources.txt --set eps2=1e-4 "
                "-o forces.txt\n"
                "gdr run gravity.gds --targets targets.txt --sources sources.txt --dump "
                "lm:0..30:*,0:float",
     .group = Group::Kernels,
     .prepare = prepare<Options, add_options, run>,
     .details = details}};

}  // namespace
}  // namespace gdr::cli
