// Flags of the arithmetic as letters, for comparison with the oracle's.
#pragma once

#include <string>

#include "emulator/numeric/float.hpp"

namespace gdr::test {

/// Letters in alphabetical order, or "-", as in oracle::Result.
inline std::string letters(Flags flags) {
  std::string text;
  if ((flags & flag_invalid) != 0) text += 'i';
  if ((flags & flag_overflow) != 0) text += 'o';
  if ((flags & flag_underflow) != 0) text += 'u';
  return text.empty() ? "-" : text;
}

}  // namespace gdr::test
