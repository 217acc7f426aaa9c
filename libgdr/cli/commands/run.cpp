// `gdr run`: a kernel on numbers from text files.
#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gdr/kernel.hpp"
#include "gdr/statistics.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/dump.hpp"
#include "libgdr/cli/kernel_inputs.hpp"
#include "libgdr/cli/nbody_report.hpp"
#include "libgdr/cli/table.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/openers.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli::run_command {
namespace {

struct Options {
  std::string kernel, output, output_items, dump_file;
  std::vector<std::string> dumps;
  KernelInputOptions inputs;
  bool statistics = false, json = false;
  DeviceChoice device;
};

std::vector<NamedResult> as_results(std::vector<Column>& columns, std::size_t rows) {
  std::vector<NamedResult> arrays;
  for (Column& column : columns) {
    column.words.assign(2 * rows, 0);
    arrays.push_back({column.name, array_of<MutableArray>(column)});
  }
  return arrays;
}

/// The choice of a device whose words are shown, where no engine is named.
DeviceChoice with_exact_default(DeviceChoice choice) {
  choice.default_engine = default_engine(EngineUse::Machine);
  return choice;
}

/// One run of a kernel on variables from tables, through the library's own job machinery; the state
/// of the chips can be read afterwards if `shows_chips`.
class KernelRun {
 public:
  /// Open the boards of an emulated device, and load the kernel.
  KernelRun(const DeviceChoice& choice, const std::string& path, bool shows_chips)
      : core_(open_core(parse_device_name(choice.device, with_exact_default(choice)))),
        data_(job_data(load_kernel_for(path, core_->geometry, core_->needs_schedule(),
                                       core_->computes_in_doubles())
                           .kernel)) {
    // On the host's numbers the words of the chips are shorts, as the kernel declares.
    core_->preserve_chip_state = shows_chips || core_->needs_schedule();
  }

  const Program& program() const noexcept { return data_.kernel.program(); }
  const Statistics& statistics() const noexcept { return core_->statistics; }

  /// Set a param from the text of NAME=VALUE, or an array of them from NAME=VALUE,VALUE... Throws
  /// Error (Usage or Input).
  void set(const std::string& assignment);
  /// Compute; the inputs hold a column for every variable of their kind, in the order of
  /// declaration.
  void run(const KernelInput& targets, const KernelInput& sources);
  /// State of a chip after the run. Throws Error (Usage) for a board or chip that does not exist.
  const ChipState& chip(unsigned board, unsigned chip) const;

  std::vector<Column> results;  ///< `fvar`s after the run: a column for each, a row a target
  std::vector<Column> outputs;  ///< `ovar`s after the run: a column for each, a row a source

 private:
  std::shared_ptr<DeviceCore> core_;
  JobData data_;
};

void KernelRun::set(const std::string& assignment) {
  for (const auto& [index, value] : read_params(program(), assignment))
    std::ranges::copy(value.words, data_.params.begin() + static_cast<std::ptrdiff_t>(2 * index));
}

void KernelRun::run(const KernelInput& targets, const KernelInput& sources) {
  JobData& d = data_;
  check_inputs(d.targets_group, targets.rows, named_inputs(targets.columns), true);
  check_inputs(d.sources_group, sources.rows, named_inputs(sources.columns), true);
  d.target_count = targets.rows;
  pack(d.targets_group, targets.rows, named_inputs(targets.columns), true, d.targets,
       core_->threads);
  pack(d.sources_group, sources.rows, named_inputs(sources.columns), true, d.new_sources,
       core_->threads);
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
  KernelRun kernel(options.device, options.kernel, !options.dumps.empty());
  std::vector<DumpRequest> dumps;
  for (const std::string& text : options.dumps) dumps.push_back(parse_dump(text, kernel.program()));
  for (const std::string& setting : options.inputs.settings) kernel.set(setting);
  const KernelInput targets = read_input(kernel.program(), VarKind::Target, options.inputs.targets,
                                         "--targets", options.inputs.target_count);
  const KernelInput sources = read_input(kernel.program(), VarKind::Source, options.inputs.sources,
                                         "--sources", options.inputs.source_count);
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
  add_kernel_input_options(app, options.inputs);
  add_text(app, "-o,--output", options.output, "FILE",
           "results: a column for each fvar (default: print them)");
  add_text(app, "--outputs", options.output_items, "FILE",
           "output items: a column for each ovar, a row a source (default: print them)");
  add_kernel_count_options(app, options.inputs);
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
}  // namespace gdr::cli::run_command
