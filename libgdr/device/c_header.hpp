// `gdr header`: generates a C header with the functions of the original GRAPE-DR tools for a
// kernel.
#pragma once

#include <string>
#include <string_view>

#include "gdr/kernel.hpp"

namespace gdr {

/// The text of a header for this kernel: structures of its sources, targets and results, and
/// functions that initialise, send, run and get. It contains the kernel's object and requires only
/// <gdr.h> and libgdr. All names start with `prefix`, by default the kernel's name. Throws Error
/// (Usage) for a prefix that is not a C identifier.
std::string c_header(const Kernel& kernel, std::string_view prefix = {});

}  // namespace gdr
