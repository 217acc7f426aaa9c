// Numeric literals with the syntax of C.
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/compiler/front/token.hpp"

namespace gdr::kc::front {

struct ScannedLiteral {
  std::size_t length = 0;  ///< length of the literal, valid or not
  Literal literal;
  const char* problem = nullptr;  ///< error message, or null
};

/// Scan the literal at the beginning of `text`, which starts with a digit, or a point and a digit:
/// decimal, octal, hexadecimal and binary integers; decimal and hexadecimal floats; a point at
/// either end; the suffixes f F l L u U without effect. Rounded to double exactly once.
ScannedLiteral scan_literal(std::string_view text);

}  // namespace gdr::kc::front
