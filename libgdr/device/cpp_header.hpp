// `gdr header --cpp`: a C++ header with structures that match a kernel's declarations.
#pragma once

#include <string>
#include <string_view>

#include "gdr/kernel.hpp"

namespace gdr {

/// The text of a header for this kernel: in namespace gdr::kernels::NAME the structures Source,
/// Target, Parameters, Result and Output, a class Job and a function compute over them. NAME is
/// `name`, or where that is empty the kernel's. The header opens the kernel of the library called
/// `builtin`; where that is empty it holds the kernel's object. Throws Error (Usage) for a name
/// that cannot be a namespace's.
std::string cpp_header(const Kernel& kernel, std::string_view name = {},
                       std::string_view builtin = {});

}  // namespace gdr
