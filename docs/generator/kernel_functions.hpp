// The page of the functions of the kernel language.
#pragma once

#include <string>

namespace gdr::docs {

std::string kernel_functions_page();

}  // namespace gdr::docs
