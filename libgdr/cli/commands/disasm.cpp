// `gdr disasm`: an object file back to assembly that assembles to the same object.
#include <memory>
#include <string>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/output.hpp"

namespace gdr::cli {
namespace {

struct Options {
  std::string object, text;
};

int run(const Options& options) {
  write_text(options.text, disassemble(read_object_file(options.object)));
  return 0;
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->object, "object file (.gdo)")->required();
  app.add_option("-o,--output", options->text, "file for the assembly text (default: print it)")
      ->type_name("FILE");
  return [options] { return run(*options); };
}

const Registration registration{{.name = "disasm",
                                 .summary = "disassemble an object file",
                                 .example = "gdr disasm gravity.gdo -o gravity_again.gds",
                                 .group = Group::Kernels,
                                 .prepare = prepare}};

}  // namespace
}  // namespace gdr::cli
