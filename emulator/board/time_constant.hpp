// A number that predicted times rest on, with all that a reader needs to judge it.
#pragma once

#include <string_view>

namespace gdr {

/// One constant of a time model.
struct TimeConstant {
  std::string_view name;
  double value;
  std::string_view unit, source, reason;
};

}  // namespace gdr
