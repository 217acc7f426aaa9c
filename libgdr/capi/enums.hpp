// Enumerations that come from C, where any number may stand for one.
#pragma once

#include <cstring>
#include <string>

#include "gdr/error.hpp"

namespace gdr::capi {

/// The number that was given. What is no value of C's enumeration must not be read as one.
template <typename Given>
int number_of(const Given& given) noexcept {
  int number = 0;
  static_assert(sizeof number == sizeof given);
  std::memcpy(&number, &given, sizeof number);
  return number;
}

/// The second of two values for 1, the first for 0. Throws Error (Usage) for others.
template <typename Given, typename Enum>
Enum one_of(const Given& given, Enum first, Enum second, const char* name) {
  const int number = number_of(given);
  if (number != 0 && number != 1)
    throw Error(ErrorCategory::Usage, "argument '" + std::string(name) + "' is " +
                                          std::to_string(number) + ", must be 0 or 1 (see gdr.h)");
  return number == 0 ? first : second;
}

}  // namespace gdr::capi
