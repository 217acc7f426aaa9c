// Running a kernel through the library's own job machinery.
#include "libgdr/cli/kernel_run.hpp"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <utility>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/text.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/openers.hpp"

namespace gdr::cli {
namespace {

Kernel load_kernel(const Geometry& geometry, const std::string& path) {
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".gds") {
    AssembleOptions options;
    options.geometry = geometry;
    AssembleResult result = assemble_file(path, options);
    check_diagnostics(result, path, "");
    return Kernel(std::move(*result.program));
  }
  if (ending == ".gdk") {
    CompileOptions options;
    options.geometry = geometry;
    CompileResult result = compile_kernel_file(path, options);
    check_diagnostics(result, path, "");
    return Kernel(std::move(*result.program));
  }
  return Kernel(read_object_file(path));
}

std::vector<NamedInput> inputs(const std::vector<Column>& columns) {
  std::vector<NamedInput> arrays;
  for (const Column& column : columns) arrays.push_back({column.name, column.input()});
  return arrays;
}

std::vector<NamedResult> as_results(std::vector<Column>& columns, std::size_t rows) {
  std::vector<NamedResult> arrays;
  for (Column& column : columns) {
    column.resize(rows);
    arrays.push_back({column.name, column.output()});
  }
  return arrays;
}

}  // namespace

KernelRun::KernelRun(const DeviceChoice& choice)
    : core_(open_core(parse_device_name(choice.device, device_options(choice)))) {
  core_->preserve_chip_state = true;
}

void KernelRun::load(const std::string& path) {
  data_ = std::make_unique<JobData>(job_data(1, load_kernel(core_->geometry, path)));
}

void KernelRun::set(const std::string& assignment) {
  const Setting setting = split_setting("--set", assignment);
  std::vector<Column> params = columns_of(program(), VarKind::Param);
  std::vector<std::string_view> known;
  for (std::size_t k = 0; k < params.size(); ++k) {
    known.push_back(params[k].name);
    if (params[k].name != setting.name) continue;
    std::vector<Column> one{params[k]};
    read_table(setting.value, "--set " + assignment, one);
    if (one[0].size() != 1) throw usage_error("--set {}: give one value", assignment);
    data_->params[2 * k] = one[0].words[0];
    data_->params[2 * k + 1] = one[0].words[1];
    return;
  }
  throw usage_error("--set: {}", unknown_name("param", setting.name, known));
}

std::vector<Column> KernelRun::run(const std::vector<Column>& targets, std::size_t target_count,
                                   const std::vector<Column>& sources, std::size_t source_count) {
  JobData& d = *data_;
  check_inputs(d.targets_group, target_count, inputs(targets), true);
  check_inputs(d.sources_group, source_count, inputs(sources), true);
  d.target_count = target_count;
  pack(d.targets_group, target_count, inputs(targets), d.targets, core_->threads);
  pack(d.sources_group, source_count, inputs(sources), d.new_sources, core_->threads);
  d.sources.replace(source_count, d.sources_group.words, d.new_sources);
  std::vector<Column> results = columns_of(program(), VarKind::Result);
  bind_results(d.results_group, target_count, as_results(results, target_count), d.results);
  outputs_ = columns_of(program(), VarKind::Output);
  bind_results(d.outputs_group, source_count, as_results(outputs_, source_count), d.outputs);
  run_job(*core_, d, {});
  return results;
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

}  // namespace gdr::cli
