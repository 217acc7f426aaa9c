// `gdr compile`: a pair law in the kernel language to an object file.
#include <cmath>
#include <filesystem>

#include "kernels/compiler/compiler.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/watched.hpp"

namespace gdr::cli::compile_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string source, object, assembly, report;
  std::vector<std::string> includes, geometry, adjoint;
  unsigned elements = 0, effort = 2;
  bool relaxed = false, no_cache = false;
};

/// The kernels with derivatives, one behind the other.
int write_adjoints(const Options& options) {
  for (const std::string* const other : {&options.assembly, &options.report})
    if (!other->empty())
      throw Error(ErrorCategory::Usage,
                  "--adjoint writes a text: compile that one for its assembly or report");
  refuse_same_file(options.source, options.object);
  const std::vector<std::string> texts =
      KernelText::read(options.source, options.includes).adjoints(options.adjoint);
  if (texts.size() > 1 && !options.object.empty() && options.object != "-")
    throw Error(
        ErrorCategory::Usage,
        "derivatives with respect to targets and to sources are two kernels, which one file "
        "cannot hold: write one with the targets and one with the sources, or print both");
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "\n") + text;
  write_text(options.object.empty() ? "-" : options.object, all);
  return 0;
}

int run(const Options& options) {
  if (!options.adjoint.empty()) return write_adjoints(options);
  const bool wants_text = !options.assembly.empty() || !options.report.empty();
  const std::string object = !options.object.empty() ? options.object
                             : wants_text            ? std::string()
                                          : fs::path(options.source).stem().string() + ".gdo";
  for (const std::string& target : {object, options.assembly, options.report})
    refuse_same_file(options.source, target);
  CompileOptions compile;
  compile.geometry = geometry_from(options.geometry);
  compile.include_dirs = options.includes;
  compile.elements = options.elements;
  compile.effort = options.effort;
  compile.relaxed = options.relaxed;
  compile.cache = !options.no_cache;
  const KernelText text =
      KernelText::read(options.source, compile.include_dirs, compile.max_errors);
  CompileResult result =
      watched([&](const std::stop_token& stop, const std::function<void(double)>& progress) {
        compile.stop = stop;
        compile.progress = progress;
        return text.compile(compile);
      });
  check_diagnostics(result, options.source, ", nothing written");
  for (const std::string& remark : result.remarks)
    note(fmt::format("{}: {}\n", options.source, remark));
  if (!object.empty()) {
    text.add_longs(*result.program, compile);
    write_object_file(object, *result.program);
  }
  if (!options.assembly.empty()) write_text(options.assembly, result.assembly);
  if (!options.report.empty()) write_text(options.report, result.report);
  if (!is_quiet() && options.assembly != "-" && options.report != "-") {
    const Program& p = *result.program;
    write_output(fmt::format("{}: {}, {} clocks an interaction, {} in a PE, {} a pass{}\n",
                             object.empty() ? options.source : object, p.name,
                             std::round(p.clocks_per_interaction() * 100) / 100,
                             counted(p.elements, "target"), counted(p.group, "source"),
                             result.from_cache ? " (from the cache)" : ""));
  }
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("FILE", options.source, "kernel, usually .gdk")->required();
  add_text(app, "-o,--output", options.object, "FILE",
           "object file (default: the source's name with .gdo, unless only text is wanted)");
  add_text(app, "-S,--emit-asm", options.assembly, "FILE", "write the assembly; - prints it");
  add_text(app, "--report", options.report, "FILE",
           "write clocks, slots and ports of every instruction and storage of values; - prints it");
  app.add_option("--adjoint", options.adjoint,
                 "print the kernels that compute derivatives with respect to these variables, or "
                 "write the text to the file of -o")
      ->delimiter(',')
      ->type_name("NAME[,NAME]...")
      ->expected(1)
      ->allow_extra_args(false)  // the argument behind it is the file
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_include_option(app, options.includes);
  add_whole_number(app, "--elements", options.elements, "targets per PE (default: as many as fit)",
                   1U, 4U)
      ->type_name("1-4");
  add_whole_number(app, "--effort", options.effort,
                   "effort of the search for a shorter loop (default: 2)", 0U, 9U)
      ->type_name("0-9");
  app.add_flag("--relaxed", options.relaxed,
               "allow changes of rounding: constant factors leave the loop");
  app.add_flag("--no-cache", options.no_cache,
               "search again, even if the same kernel was compiled before");
  add_geometry_option(app, options.geometry);
}

const Registration registration{
    {.name = "compile",
     .summary = "compile a pair law in the kernel language",
     .example = "gdr compile kernels/particle/lennard_jones.gdk --emit-asm -",
     .group = Group::Kernels,
     .prepare = prepare<Options, add_options, run>,
     .details =
         "Errors and warnings go to standard error with their place in the source; with an error\n"
         "nothing is written and the exit status is 1. The same text and options give the same\n"
         "program on every host, so results are kept in GDR_CACHE_DIR "
         "(docs/reference/environment.md).\n"
         "With --adjoint nothing is compiled: the kernels printed have the derivatives of a sum "
         "of\n"
         "results, for weights NAME_bar of each result NAME; derivatives by targets and by "
         "sources\n"
         "are two kernels.\n"
         "The language is described in "
         "docs/reference/kernel-language.md."}};

}  // namespace
}  // namespace gdr::cli::compile_command
