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
#include "emulator/isa/larger_memories.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/adjoint.hpp"
#include "kernels/compiler/cache/compilation.hpp"
#include "kernels/compiler/cache/folder.hpp"
#include "kernels/compiler/codegen.hpp"
#include "kernels/compiler/front/front.hpp"
#include "kernels/compiler/ir/capacity.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr {
namespace {

/// Programs made without a search are worth a file from this length of the loop: they take about
/// 20 ms (446 instructions: 14 ms). A count, so that the cache does not depend on the host's load.
constexpr std::size_t min_cached_instructions = 640;

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

/// What follows the front end, into `result`. Throws CompileError if a resource is exceeded.
void generate(const kc::Graph& graph, const std::string& file_name, const CompileOptions& options,
              CompileResult& result) {
  kc::CompiledKernel compiled;
  kc::generate_code(graph, options, result.diagnostics.sources, compiled);
  AssembleOptions assembly;
  assembly.geometry = options.geometry;
  AssembleResult assembled = assemble(compiled.assembly, graph.name + ".gds", assembly);
  if (!assembled.ok()) throw compile_error_of(assembled.diagnostics, compiled, file_name);
  result.assembly = compiled.assembly;
  result.remarks = compiled.remarks;
  result.initiation_interval = compiled.schedule.ii;
  result.min_interval = compiled.bounds.least();
  result.pipelined = compiled.pipelined;
  result.program = std::move(assembled.program);
  result.report = kc::report(compiled, *result.program, options.geometry);
}

/// The same from the user's cache if it is there; else it is stored, unless it takes little time to
/// make.
void generate_or_restore(const kc::Graph& graph, const std::string& file_name,
                         const CompileOptions& options, CompileResult& result) {
  const std::optional<kc::CacheFolder> cache = kc::CacheFolder::of_user();
  if (!options.cache || !cache) return generate(graph, file_name, options, result);
  kc::throw_if_stopped(options.stop);
  const std::string key = kc::cache_key(graph.name, result.diagnostics.sources, options);
  const std::optional<std::string> found = cache->load(key);
  result.from_cache = found && kc::restore(*found, graph.name, options, result);
  if (result.from_cache) return;
  const std::string distrust = found ? std::string() : cache->distrust(key);
  generate(graph, file_name, options, result);
  if (options.pipeline || result.program->section(Section::Body).size() >= min_cached_instructions)
    cache->store(key, kc::cache_text(result));
  if (!distrust.empty()) result.remarks.push_back(distrust);
}

}  // namespace

KernelText::KernelText(std::string_view text, const std::string& file_name,
                       const std::vector<std::string>& include_dirs, std::size_t max_errors)
    : file_name_(file_name) {
  auto front =
      std::make_shared<kc::FrontResult>(kc::read_kernel(text, file_name, include_dirs, max_errors));
  if (front->graph && front->graph->flops == 0)
    front->graph->flops = kc::count_flops(*front->graph);
  front_ = std::move(front);
}

KernelText KernelText::read(const std::string& path, const std::vector<std::string>& include_dirs,
                            std::size_t max_errors) {
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
  return {text, path, include_dirs, max_errors};
}

KernelText KernelText::with_cutoff(const CutoffPositions& positions) const {
  KernelText text = *this;
  text.cutoff_ = positions;
  return text;
}

CompileResult KernelText::compile(const CompileOptions& given) const {
  CompileOptions options = given;
  if (cutoff_) options.cutoff = cutoff_;
  CompileResult result;
  result.diagnostics = front_->diagnostics;
  if (!front_->graph) return result;
  try {
    generate_or_restore(*front_->graph, file_name_, options, result);
  } catch (const kc::CompileError& refusal) {
    result.diagnostics.list.push_back(refusal.why);
    ++result.diagnostics.error_count;
  }
  return result;
}

void KernelText::add_longs(Program& program, const CompileOptions& options) const {
  CompileOptions longs;
  longs.geometry = options.geometry;
  longs.pipeline = false;
  longs.in_longs = true;
  longs.stop = options.stop;
  CompileResult result = compile(longs);
  if (!result.ok()) {
    longs.geometry = larger_memories(longs.geometry);
    result = compile(longs);
  }
  if (result.ok() && result.program->sections != program.sections)
    program.in_longs.push_back(std::move(*result.program));
}

std::vector<ImageLimit> KernelText::image_limits() const {
  return front_->graph ? kc::find_image_limits(*front_->graph) : std::vector<ImageLimit>();
}

std::vector<std::string> KernelText::adjoints(std::span<const std::string> variables) const {
  if (!front_->graph) throw Error(ErrorCategory::Program, front_->diagnostics.render());
  return kc::adjoint_texts(*front_->graph, variables);
}

KernelCharges KernelText::charges(std::span<const std::string> positions) const {
  return front_->graph ? kc::find_charges(*front_->graph, positions) : KernelCharges();
}

CompileResult compile_kernel(std::string_view text, const std::string& file_name,
                             const CompileOptions& options) {
  return KernelText(text, file_name, options.include_dirs, options.max_errors).compile(options);
}

CompileResult compile_kernel_file(const std::string& path, const CompileOptions& options) {
  return KernelText::read(path, options.include_dirs, options.max_errors).compile(options);
}

}  // namespace gdr
