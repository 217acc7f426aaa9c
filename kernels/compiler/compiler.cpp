#include "kernels/compiler/compiler.hpp"

#include <fstream>
#include <sstream>

#include "emulator/assembler/assembler.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/back.hpp"
#include "kernels/compiler/front/front.hpp"
#include "kernels/compiler/report.hpp"

namespace gdr {

CompileResult compile_kernel(std::string_view text, const std::string& file_name,
                             const CompileOptions& options) {
  CompileResult result;
  kc::FrontResult front =
      kc::read_kernel(text, file_name, {options.include_dirs, options.max_errors});
  result.diagnostics = std::move(front.diagnostics);
  if (!front.graph) return result;
  kc::BackOptions back;
  back.geometry = options.geometry;
  back.elements = options.elements;
  back.effort = options.effort;
  back.seed = options.seed;
  back.relaxed = options.relaxed;
  back.hint = kc::find_hint(text);
  back.sources = result.diagnostics.sources;
  kc::Compiled compiled;
  kc::compile_graph(*front.graph, back, compiled);
  result.assembly = compiled.assembly;
  result.remarks = compiled.remarks;
  AssembleOptions assembly;
  assembly.geometry = options.geometry;
  AssembleResult assembled = assemble(result.assembly, front.graph->name + ".gds", assembly);
  if (!assembled.ok())
    throw Error(ErrorCategory::Internal, "the generated assembly of " + file_name +
                                             " has errors; please report this:\n" +
                                             assembled.diagnostics.render());
  result.program = std::move(assembled.program);
  result.report = kc::report(compiled, *result.program, options.geometry);
  return result;
}

CompileResult compile_kernel_file(const std::string& path, const CompileOptions& options) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(file && text << file.rdbuf()))
    throw Error(ErrorCategory::Io, "cannot read the kernel file '" + path + "'");
  return compile_kernel(text.str(), path, options);
}

}  // namespace gdr
