// `gdr asm`: a kernel's source to an object file, with all its diagnostics.
#include <filesystem>

#include "emulator/assembler/assembler.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"

namespace gdr::cli::asm_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string source, object, listing, stalls = "pad";
  std::vector<std::string> includes, geometry;
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
  if (!is_quiet() && options.listing != "-") write_output(summary(*result.program, object));
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("FILE", options.source, "assembly source, usually .gds")->required();
  add_text(app, "-o,--output", options.object, "FILE",
           "object file (default: the source's name with .gdo)");
  add_text(app, "-l,--listing", options.listing, "FILE",
           "write an annotated listing: address, encoding, clock, source line; - prints it");
  add_include_option(app, options.includes);
  add_text(app, "--stalls", options.stalls, "pad|error",
           "needed idle clocks: insert them (pad, the default) or refuse the source (error)");
  add_geometry_option(app, options.geometry);
}

const Registration registration{
    {.name = "asm",
     .summary = "assemble a kernel",
     .example = "gdr asm gravity.gds -o gravity.gdo -l -",
     .group = Group::Kernels,
     .prepare = prepare<Options, add_options, run>,
     .details = "All errors go to standard error with their place in the source; then nothing is\n"
                "written and the exit status is 1. The language is described in "
                "docs/reference/assembler.md."}};

}  // namespace
}  // namespace gdr::cli::asm_command
