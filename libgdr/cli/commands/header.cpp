// `gdr header`: a C and C++ header from a kernel's declarations.
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/watched.hpp"
#include "libgdr/device/headers.hpp"

namespace gdr::cli::header_command {
namespace {

struct Options {
  std::string kernel, header, prefix;
  bool cpp = false;
};

/// The header of a kernel of the library, which C++ opens by its name, or of a file.
std::string header_of(const Options& options) {
  const bool builtin = is_library_kernel(options.kernel);
  const Kernel given = builtin ? Kernel::builtin(options.kernel) : Kernel::load(options.kernel);
  const Kernel kernel =
      watched([&](const std::stop_token& stop, const std::function<void(double)>& progress) {
        return given.scheduled(stop, progress);
      });
  if (!options.cpp) return c_header(kernel, options.prefix);
  return cpp_header(kernel, options.prefix, builtin ? options.kernel : "");
}

int run(const Options& options) {
  write_text(options.header, header_of(options));
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("KERNEL", options.kernel,
                 "object file (.gdo), source (.gds, .gdk), or kernel of the library")
      ->required();
  add_text(app, "-o,--output", options.header, "FILE", "header file (default: print it)");
  app.add_flag("--cpp", options.cpp,
               "for C++: structures and functions in namespace gdr::kernels::NAME");
  add_text(app, "--prefix", options.prefix, "NAME",
           "prefix of all names, or the namespace (default: the kernel's name)");
}

const Registration registration{
    {.name = "header",
     .summary = "write a C and C++ header that runs a kernel",
     .example = "gdr header gravity.gdo -o gravity.h",
     .group = Group::Kernels,
     .prepare = prepare<Options, add_options, run>,
     .details =
         "The header holds the kernel and structures for its sources, targets and results,\n"
         "with functions to initialise, send, run and get; it needs <gdr.h> and -lgdr. With\n"
         "--cpp it has the same structures for C++, a class Job and a function compute, and\n"
         "needs <gdr/gdr.hpp>; those of the library's kernels are <gdr/kernels/NAME.hpp>."}};

}  // namespace
}  // namespace gdr::cli::header_command
