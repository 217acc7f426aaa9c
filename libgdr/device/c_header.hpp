// `gdr header`: a C and C++ header with the functions that the original's tools made from a
// kernel's declarations.
#pragma once

#include <string>
#include <string_view>

#include "gdr/kernel.hpp"

namespace gdr {

/// The text of a header for this kernel: structures of its sources, targets and results, and
/// functions that initialise, send, run and get. It holds the kernel's object, and needs nothing
/// but <gdr.h> and libgdr. Everything in it begins with `prefix`, or where that is empty with the
/// kernel's name. Throws Error (Usage) for a prefix that is no C identifier.
std::string c_header(const Kernel& kernel, std::string_view prefix = {});

}  // namespace gdr
