// Replacement of hand-written reciprocals and reciprocal square roots by operations.
#pragma once

#include "emulator/engine/native/lower.hpp"

namespace gdr::native {

/// Replaces every value that is an idiom (idiom.hpp) of a number whose bits are used: by Rsqrt and
/// Recip nodes that are at least as accurate as the program's own sequence (or as the short that it
/// is rounded to). If the program's value at x = 0 is finite and may be live, it is kept: programs
/// multiply it by zero, or clamp it. With floats it is scaled to the end of their range.
Segment replace_rsqrt_idioms(const Segment& segment, Precision precision);

}  // namespace gdr::native
