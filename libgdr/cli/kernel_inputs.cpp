#include "libgdr/cli/kernel_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/watched.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

template <typename Result>
Kernel checked_kernel(Result& result, const std::string& path) {
  check_diagnostics(result, path, "");
  return Kernel(std::move(*result.program));
}

}  // namespace

LoadedKernel load_kernel_for(const std::string& path, const Geometry& geometry, bool schedule,
                             bool in_longs) {
  verbose("kernel", "file {}", path);
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".gds") {
    AssembleOptions options;
    options.geometry = geometry;
    AssembleResult result = assemble_file(path, options);
    const Kernel kernel = checked_kernel(result, path);
    return {in_longs ? kernel.with_longs() : kernel, {}};
  }
  if (ending == ".gdk") {
    CompileOptions options;
    options.geometry = geometry;
    options.pipeline = schedule;
    return watched([&](const std::stop_token& stop, const std::function<void(double)>& progress) {
      options.stop = stop;
      options.progress = progress;
      CompileResult result = compile_kernel_file(path, options);
      if (in_longs && result.ok()) KernelText::read(path).add_longs(*result.program, options);
      const Kernel kernel = checked_kernel(result, path);
      return LoadedKernel{in_longs ? kernel.with_longs() : kernel, std::move(result.assembly)};
    });
  }
  const Kernel kernel(read_object_file(path));
  return {in_longs ? kernel.with_longs() : kernel, {}};
}

void add_kernel_input_options(CLI::App& app, KernelInputOptions& options) {
  add_text(app, "--targets", options.targets, "FILE", "targets: a column for each ivar");
  add_text(app, "--sources", options.sources, "FILE", "sources: a column for each jvar");
  add_repeatable(app, "--set", options.settings,
                 "value of a param; of a vector, table or array x,y,...", "NAME=VALUE");
}

void add_kernel_count_options(CLI::App& app, KernelInputOptions& options) {
  add_whole_number(app, "--target-count", options.target_count,
                   "number of targets of a kernel without ivars (default 1)");
  add_whole_number(app, "--iterations", options.source_count,
                   "iterations of the loop of a kernel without jvars (default 1)");
}

KernelInput read_input(const Program& program, VarKind kind, const std::string& path,
                       const char* option, std::size_t count) {
  KernelInput input{columns_of(program, kind), count};
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

std::vector<std::pair<std::size_t, Column>> read_params(const Program& program,
                                                        const std::string& assignment) {
  const Setting setting = split_setting("--set", assignment);
  const LinkGroup group = link_group(program, VarKind::Param);
  if (!has_fields(group, setting.name)) {
    std::vector<std::string_view> known;
    for (const LinkArray& array : group.arrays) known.push_back(array.name);
    for (const LinkField& field : group.fields) known.push_back(field.name);
    throw usage_error("--set: {}", unknown_name("param", setting.name, known));
  }
  const std::span<const LinkField> fields = fields_named(group, setting.name);
  const auto first = fields.data() - group.fields.data();
  const std::vector<Column> params = columns_of(program, VarKind::Param);
  std::vector<Column> given(params.begin() + first,
                            params.begin() + first + static_cast<std::ptrdiff_t>(fields.size()));
  std::string values = setting.value;
  std::ranges::replace(values, ',', ' ');
  read_table(values, "--set " + assignment, given);
  if (given.front().size() != 1)
    throw usage_error("--set {}: give {}", assignment,
                      fields.size() == 1 ? std::string("one value")
                                         : std::to_string(fields.size()) + " values with commas");
  std::vector<std::pair<std::size_t, Column>> values_of;
  for (std::size_t k = 0; k < given.size(); ++k)
    values_of.emplace_back(static_cast<std::size_t>(first) + k, std::move(given[k]));
  return values_of;
}

std::vector<NamedInput> named_inputs(const std::vector<Column>& columns) {
  std::vector<NamedInput> arrays;
  for (const Column& column : columns)
    arrays.push_back({column.name, array_of<ConstArray>(column)});
  return arrays;
}

}  // namespace gdr::cli
