// Comparisons of functions in floats.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// A comparison leaves no trace of an argument for which floats have no value, or of a value that
/// is zero only among floats. Throws Unsupported where that may decide. True if runs must detect
/// overflows, which tell it of some functions; without `may_detect`, throws for these, too.
bool check_compared_functions(const Segment& s, bool may_detect);

}  // namespace gdr::native
