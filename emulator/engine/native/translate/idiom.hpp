// Recognition of reciprocals and reciprocal square roots by their values.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Replaces every value that is an idiom, c/x or c/sqrt(x), of a number whose bits are used: by
/// Rsqrt and Recip nodes that are at least as accurate as the program's own sequence (or as the
/// short that it is rounded to). If the program's value at x = 0 is finite and may be live, it is
/// kept: programs multiply it by zero, or clamp it. With floats it is scaled to the end of their
/// range.
Segment replace_rsqrt_idioms(const Segment& segment, Precision precision);

}  // namespace gdr::native
