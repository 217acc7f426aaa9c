// `gdr stub`: a C and C++ header from a kernel's declarations.
#include "libgdr/device/stub.hpp"

#include <memory>
#include <string>

#include "gdr/kernel.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

struct Options {
  std::string kernel, header, prefix;
};

int run(const Options& options) {
  const std::string text = stub_header(Kernel::load(options.kernel), options.prefix);
  if (options.header.empty() || options.header == "-")
    write_output(text);
  else
    write_file_atomically(options.header, text);
  return 0;
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("KERNEL", options->kernel, "object file (.gdo) or source (.gds)")->required();
  app.add_option("-o,--output", options->header, "header file (default: print it)")
      ->type_name("FILE");
  app.add_option("--prefix", options->prefix,
                 "what every name in it begins with (default: the kernel's name)")
      ->type_name("NAME");
  return [options] { return run(*options); };
}

const Registration registration{
    {.name = "stub",
     .summary = "write a C and C++ header that runs a kernel",
     .example = "gdr stub gravity.gdo -o gravity.h",
     .group = Group::Kernels,
     .prepare = prepare,
     .details = "The header holds the kernel and structures for its sources, targets and results,\n"
                "with functions to initialise, send, run and get; it needs <gdr.h> and -lgdr."}};

}  // namespace
}  // namespace gdr::cli
