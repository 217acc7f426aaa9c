// Enumerations that come from C, where any number may stand for one.
#pragma once

#include <string>

#include "gdr/error.hpp"

namespace gdr::capi {

/// The second of two values if it is 1, the first if it is 0. Throws Error (Usage) for others.
template <typename Enum>
Enum one_of(int given, Enum first, Enum second, const char* what) {
  if (given != 0 && given != 1)
    throw Error(ErrorCategory::Usage,
                std::string(what) + " is " + std::to_string(given) + "; it is 0 or 1 (see gdr.h)");
  return given == 0 ? first : second;
}

}  // namespace gdr::capi
