// `gdr disasm`: an object file back to assembly that assembles to the same object.
#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "libgdr/cli/command.hpp"

namespace gdr::cli::disasm_command {
namespace {

struct Options {
  std::string object, text;
};

int run(const Options& options) {
  write_text(options.text, disassemble(read_object_file(options.object)));
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("FILE", options.object, "object file (.gdo)")->required();
  add_text(app, "-o,--output", options.text, "FILE",
           "file for the assembly text (default: print it)");
}

const Registration registration{{.name = "disasm",
                                 .summary = "disassemble an object file",
                                 .example = "gdr disasm gravity.gdo -o gravity_again.gds",
                                 .group = Group::Kernels,
                                 .prepare = prepare<Options, add_options, run>}};

}  // namespace
}  // namespace gdr::cli::disasm_command
