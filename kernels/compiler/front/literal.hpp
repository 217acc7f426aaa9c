// Numbers of the source in every form of C.
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/compiler/front/token.hpp"

namespace gdr::kc::front {

struct ScannedLiteral {
  std::size_t length = 0;  ///< characters that belong to it, right or wrong
  Literal literal;
  const char* problem = nullptr;  ///< why it is no number, or null
};

/// The literal at the beginning of `text`, which starts with a digit, or a point and a digit:
/// decimal, octal, hexadecimal and binary integers; decimal and hexadecimal floats; a point at
/// either end; the suffixes f F l L u U, which change nothing. Rounded to double exactly once.
ScannedLiteral scan_literal(std::string_view text);

}  // namespace gdr::kc::front
