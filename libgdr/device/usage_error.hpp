#pragma once

#include <string>

#include "gdr/error.hpp"

namespace gdr {

/// Throws Error (Usage).
[[noreturn]] inline void usage_error(const std::string& message) {
  throw Error(ErrorCategory::Usage, message);
}

}  // namespace gdr
