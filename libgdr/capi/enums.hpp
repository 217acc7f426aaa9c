// Enumerations from C, where any number may be passed for one.
#pragma once

#include <cstring>
#include <string>

#include "gdr.h"
#include "gdr/error.hpp"
#include "gdr/matrix.hpp"

namespace gdr::capi {

/// The number that was passed. Reading an invalid value as the enumeration would be undefined.
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

inline Transpose transpose_of(const gdr_transpose& given, const char* name = "transpose") {
  return one_of(given, Transpose::No, Transpose::Yes, name);
}
inline MatrixPrecision precision_of(const gdr_matrix_precision& given) {
  return one_of(given, MatrixPrecision::Chip, MatrixPrecision::Full, "precision");
}

}  // namespace gdr::capi
