// A constant of the time model, with its source and reason.
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
