// `gdr header`: a C and C++ header from a kernel's declarations.
#include <memory>
#include <string>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/device/headers.hpp"

namespace gdr::cli {
namespace {

struct Options {
  std::string kernel, header, prefix;
  bool cpp = false;
};

/// The header of a kernel of the library, which C++ opens by its name, or of a file.
std::string header_of(const Options& options) {
  const bool builtin = is_library_kernel(options.kernel);
  const Kernel kernel = builtin ? Kernel::builtin(options.kernel) : Kernel::load(options.kernel);
  if (!options.cpp) return c_header(kernel, options.prefix);
  return cpp_header(kernel, options.prefix, builtin ? options.kernel : "");
}

int run(const Options& options) {
  write_text(options.header, header_of(options));
  return 0;
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("KERNEL", options->kernel,
                 "object file (.gdo), source (.gds, .gdk), or kernel of the library")
      ->required();
  app.add_option("-o,--output", options->header, "header file (default: print it)")
      ->type_name("FILE");
  app.add_flag("--cpp", options->cpp,
               "for C++: structures and functions in namespace gdr::kernels::NAME");
  app.add_option("--prefix", options->prefix,
                 "prefix of all names, or the namespace (default: the kernel's name)")
      ->type_name("NAME");
  return [options] { return run(*options); };
}

const Registration registration{
    {.name = "header",
     .summary = "write a C and C++ header that runs a kernel",
     .example = "gdr header gravity.gdo -o gravity.h",
     .group = Group::Kernels,
     .prepare = prepare,
     .details =
         "The header holds the kernel and structures for its sources, targets and results,\n"
         "with functions to initialise, send, run and get; it needs <gdr.h> and -lgdr. With\n"
         "--cpp it has the same structures for C++, a class Job and a function compute, and\n"
         "needs <gdr/gdr.hpp>; those of the library's kernels are <gdr/kernels/NAME.hpp>."}};

}  // namespace
}  // namespace gdr::cli
