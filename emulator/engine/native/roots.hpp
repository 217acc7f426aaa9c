// Hand-written reciprocals and reciprocal square roots become operations.
#pragma once

#include "emulator/engine/native/lower.hpp"

namespace gdr::native {

/// Replaces every value that is an idiom (idiom.hpp) of a number whose bits are used: by Rsqrt and
/// Recip nodes that are at least as accurate as the program's own sequence (or as the short that it
/// is rounded to). Where the program's value at x = 0 is a number and may count, it is kept:
/// programs multiply it by zero, or limit it. With floats it becomes one as near to the end of
/// their range.
Segment with_roots(const Segment& segment, Precision precision);

}  // namespace gdr::native
