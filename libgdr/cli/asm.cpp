// `gdr asm`: a kernel's source to an object file, with all its diagnostics.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/options.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/io/atomic_file.hpp"

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
    throw Error(ErrorCategory::Usage, fmt::format("--stalls {}: pad or error", options.stalls));
  result.stall_is_error = options.stalls == "error";
  return result;
}

std::string count_text(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string summary(const Program& program, const std::string& object) {
  std::size_t instructions = 0;
  for (const auto& section : program.sections) instructions += section.size();
  return fmt::format("{}: {}, {}, {} clocks in the loop body, {:.4g} clocks an interaction\n",
                     object, program.name, count_text(instructions, "instruction"),
                     program.clocks(Section::Body), program.clocks_per_interaction());
}

int run(const Options& options) {
  const std::string object =
      options.object.empty() ? fs::path(options.source).stem().string() + ".gdo" : options.object;
  for (const std::string& target : {object, options.listing})
    refuse_same_file(options.source, target);

  const AssembleResult result = assemble_file(options.source, assembler_options(options));
  if (!result.diagnostics.list.empty())
    show_rendered(result.diagnostics.render(stderr_has_colour()));
  if (!result.ok()) {
    report_error(fmt::format("{}: {}, no object written", options.source,
                             count_text(result.diagnostics.error_count, "error")));
    return 1;
  }
  const std::vector<std::uint8_t> bytes = write_object(*result.program);
  write_file_atomically(object, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::string text =
      options.listing.empty() ? "" : listing(*result.program, result.diagnostics);
  if (!options.listing.empty()) write_text(options.listing, text);
  // The listing may be piped on; the summary stays out of its way.
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
                 "a needed idle clock is put in (pad, the default) or refused (error)")
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
     .details =
         "Errors go to standard error with their place in the source, as many as there are;\n"
         "then nothing is written and the exit status is 1. The language is described in\n"
         "docs/reference/assembler.md."}};

}  // namespace
}  // namespace gdr::cli
