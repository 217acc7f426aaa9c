#include "kernels/compiler/compiler.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/diagnostics/codes.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/capacity.hpp"
#include "kernels/compiler/codegen.hpp"
#include "kernels/compiler/front/front.hpp"

namespace gdr {
namespace {

/// The statement with the most operations in the loop.
SourceRange longest_statement(const kc::MachineLoop& loop) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> operations;
  SourceRange longest;
  unsigned most = 0;
  for (const kc::MachineOp& op : loop.ops) {
    if (op.where.line == 0) continue;
    if (unsigned& n = operations[{op.where.file, op.where.line}]; ++n > most) {
      most = n;
      longest = op.where;
    }
  }
  return longest;
}

/// Translate a capacity error of the assembler into one of the kernel. Any other error in generated
/// assembly is an internal error.
kc::CompileError compile_error_of(const Diagnostics& diagnostics,
                                  const kc::CompiledKernel& compiled,
                                  const std::string& file_name) {
  const Diagnostic& first = diagnostics.list.front();
  // The last source variable is the one that exceeded the size of an item.
  const auto last_source = std::ranges::find(std::views::reverse(compiled.graph.variables),
                                             VarKind::Source, &kc::GraphVariable::kind);
  if (first.code == static_cast<std::uint16_t>(Code::InstructionMemory))
    return {kc::capacity_error(kc::Code::TooManyInstructions, longest_statement(compiled.loop),
                               "the instruction memory is full", first.label)};
  if (first.code == static_cast<std::uint16_t>(Code::BroadcastMemory))
    return {kc::capacity_error(kc::Code::ItemTooLarge, last_source->where,
                               "the broadcast memory is full", first.label)};
  throw Error(ErrorCategory::Internal, "the assembly generated for " + file_name +
                                           " is invalid; please report this:\n" +
                                           diagnostics.render());
}

}  // namespace

CompileResult compile_kernel(std::string_view text, const std::string& file_name,
                             const CompileOptions& options) {
  CompileResult result;
  kc::FrontResult front =
      kc::read_kernel(text, file_name, options.include_dirs, options.max_errors);
  result.diagnostics = std::move(front.diagnostics);
  if (!front.graph) return result;
  if (front.graph->flops == 0) front.graph->flops = kc::count_flops(*front.graph);
  try {
    kc::CompiledKernel compiled;
    kc::generate_code(*front.graph, options, result.diagnostics.sources, compiled);
    AssembleOptions assembly;
    assembly.geometry = options.geometry;
    AssembleResult assembled = assemble(compiled.assembly, front.graph->name + ".gds", assembly);
    if (!assembled.ok()) throw compile_error_of(assembled.diagnostics, compiled, file_name);
    result.assembly = compiled.assembly;
    result.remarks = compiled.remarks;
    result.initiation_interval = compiled.schedule.ii;
    result.least_interval = compiled.bounds.least();
    result.pipelined = compiled.pipelined;
    result.program = std::move(assembled.program);
    result.report = kc::report(compiled, *result.program, options.geometry);
  } catch (const kc::CompileError& refusal) {
    result.diagnostics.list.push_back(refusal.why);
    ++result.diagnostics.error_count;
  }
  return result;
}

CompileResult compile_kernel_file(const std::string& path, const CompileOptions& options) {
  const std::filesystem::path file(path);
  if (file.extension() == ".gds")
    throw Error(ErrorCategory::Usage, "'" + path + "' is assembly: use `gdr asm`");
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw Error(ErrorCategory::Io, "'" + path + "' is a directory, not a kernel file");
  std::ifstream stream(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!stream || stream.bad())
    throw Error(ErrorCategory::Io, "cannot read the kernel file '" + path + "'");
  if (text.empty()) throw Error(ErrorCategory::Input, "the kernel file '" + path + "' is empty");
  return compile_kernel(text, path, options);
}

}  // namespace gdr
