// `gdr asm`: a kernel's source to an object file, with all its diagnostics.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/options.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/cli/text.hpp"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string source, object, listing, stalls = "pad";
  std::vector<std::string> includes, geometry;
  bool quiet = false;
};

AssembleOptions assembler_options(const Options& options) {
  AssembleOptions result;
  result.geometry = geometry_from(options.geometry);
  result.include_dirs = options.includes;
  if (options.stalls != "pad" && options.stalls != "error")
    throw usage_error("--stalls {}: must be pad or error", options.stalls);
  result.stall_is_error = options.stalls == "error";
  return result;
}

std::string summary(const Program& program, const std::string& object) {
  std::size_t instructions = 0;
  for (const auto& section : program.sections) instructions += section.size();
  return fmt::format("{}: {}, {}, {} clocks in the loop body, {:.4g} clocks an interaction\n",
                     object, program.name, counted(instructions, "instruction"),
                     program.clocks(Section::Body), program.clocks_per_interaction());
}

int run(const Options& options) {
  const std::string object =
      options.object.empty() ? fs::path(options.source).stem().string() + ".gdo" : options.object;
  for (const std::string& target : {object, options.listing})
    refuse_same_file(options.source, target);

  const AssembleResult result = assemble_file(options.source, assembler_options(options));
  check_diagnostics(result, options.source, ", no object written");
  write_object_file(object, *result.program);
  if (!options.listing.empty())
    write_text(options.listing, listing(*result.program, result.diagnostics));
  // A listing on standard output may be piped into another program: no summary then.
  if (!options.quiet && options.listing != "-") write_output(summary(*result.program, object));
  return 0;
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->source, "assembly source, usually .gds")->required();
  app.add_option("-o,--output", options->object,
                 "object file (default: the source's name with .gdo)")
      ->type_name("FILE");
  app.add_option("-l,--listing", options->listing,
                 "write an annotated listing: address, encoding, clock, source line; - prints it")
      ->type_name("FILE");
  add_include_option(app, options->includes);
  app.add_option("--stalls", options->stalls,
                 "needed idle clocks: insert them (pad, the default) or refuse the source (error)")
      ->type_name("pad|error");
  add_geometry_option(app, options->geometry);
  app.add_flag("-q,--quiet", options->quiet, "no summary");
  return [options] { return run(*options); };
}

const Registration registration{
    {.name = "asm",
     .summary = "assemble a kernel",
     .example = "gdr asm gravity.gds -o gravity.gdo -l -",
     .group = Group::Kernels,
     .prepare = prepare,
     .details = "All errors go to standard error with their place in the source; then nothing is\n"
                "written and the exit status is 1. The language is described in "
                "docs/reference/assembler.md."}};

}  // namespace
}  // namespace gdr::cli
