#include "kernels/compiler/compiler.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/diagnostics/codes.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/back.hpp"
#include "kernels/compiler/count_flops.hpp"
#include "kernels/compiler/front/front.hpp"
#include "kernels/compiler/refusal.hpp"
#include "kernels/compiler/report.hpp"

namespace gdr {
namespace {

/// The statement that most operations of the loop come from.
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

/// The last source variable that is declared: with it an item has become too large.
SourceRange last_source(const kc::Graph& graph) {
  SourceRange last;
  for (const kc::GraphVariable& v : graph.variables)
    if (v.kind == VarKind::Source) last = v.where;
  return last;
}

/// What the assembler has no room for, in the kernel's terms; it knows no other reasons to refuse
/// what the compiler made.
kc::Refusal refusal_of(const Diagnostics& diagnostics, const kc::Compiled& compiled,
                       const std::string& file_name) {
  const Diagnostic& first = diagnostics.list.front();
  if (first.code == static_cast<std::uint16_t>(Code::InstructionMemory))
    return {kc::shortage(kc::Code::TooManyInstructions, longest_statement(compiled.loop),
                         "there is no room in the instruction memory", first.label)};
  if (first.code == static_cast<std::uint16_t>(Code::BroadcastMemory))
    return {kc::shortage(kc::Code::ItemTooLarge, last_source(compiled.graph),
                         "there is no room in the broadcast memory", first.label)};
  throw Error(ErrorCategory::Internal, "the generated assembly of " + file_name +
                                           " has errors; please report this:\n" +
                                           diagnostics.render());
}

}  // namespace

CompileResult compile_kernel(std::string_view text, const std::string& file_name,
                             const CompileOptions& options) {
  CompileResult result;
  kc::FrontResult front =
      kc::read_kernel(text, file_name, {options.include_dirs, options.max_errors});
  result.diagnostics = std::move(front.diagnostics);
  if (!front.graph) return result;
  if (front.graph->flops == 0) front.graph->flops = kc::count_flops(*front.graph);
  kc::BackOptions back;
  back.geometry = options.geometry;
  back.elements = options.elements;
  back.effort = options.effort;
  back.seed = options.seed;
  back.relaxed = options.relaxed;
  back.hint = kc::find_hint(text);
  back.stop = options.stop;
  back.sources = result.diagnostics.sources;
  try {
    kc::Compiled compiled;
    kc::compile_graph(*front.graph, back, compiled);
    AssembleOptions assembly;
    assembly.geometry = options.geometry;
    AssembleResult assembled = assemble(compiled.assembly, front.graph->name + ".gds", assembly);
    if (!assembled.ok()) throw refusal_of(assembled.diagnostics, compiled, file_name);
    result.assembly = compiled.assembly;
    result.remarks = compiled.remarks;
    result.program = std::move(assembled.program);
    result.report = kc::report(compiled, *result.program, options.geometry);
  } catch (const kc::Refusal& refusal) {
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
