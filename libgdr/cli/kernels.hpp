// Kernels that a command line names, and programs from source files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/program.hpp"
#include "gdr/kernel.hpp"

namespace gdr::cli {

bool is_library_kernel(const std::string& name);

/// A kernel of the library by name, or from a file (.gdk, .gds, .gdo) if the name has a dot or a
/// slash. Throws Error (Usage): "unknown WHAT ...", with the nearest of the library's kernels and
/// `others`.
Kernel find_kernel(const std::string& name, std::string_view what = "kernel",
                   std::vector<std::string_view> others = {});

/// Show the diagnostics of an assembly or a compilation on standard error, and throw Error
/// (Program) if there are errors: "SOURCE: 2 errorsCONSEQUENCE".
template <typename Result>
void check_diagnostics(const Result& result, const std::string& source,
                       std::string_view consequence);

void write_object_file(const std::string& path, const Program& program);

}  // namespace gdr::cli
