// Short texts that several commands need.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

#include "gdr/error.hpp"

namespace gdr::cli {

/// "1 board", "2 boards".
std::string counted(std::integral auto n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

/// A line of a report: the label, padded to `width` columns, and the value.
inline std::string report_line(std::string_view label, std::string_view value, std::size_t width) {
  return fmt::format("{:<{}}{}\n", label, width, value);
}

/// An error of category Usage: `throw usage_error("--mode '{}': ...", text);`
template <typename... Args>
Error usage_error(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ErrorCategory::Usage, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace gdr::cli
