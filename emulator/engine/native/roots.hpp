// Hand-written reciprocals and reciprocal square roots, found by what they compute.
#pragma once

#include "emulator/engine/native/segment.hpp"

namespace gdr::native {

/// Replaces every value that depends on one number x alone, begins with the bits of x, and equals
/// c / sqrt(x) or c / x to a part in a thousand: by Rsqrt and Recip nodes that are at least as
/// accurate as the program's own sequence (or as the short that it is rounded to). Where the
/// program's value at x = 0 is finite and may count, it is kept.
Segment with_roots(const Segment& segment);

}  // namespace gdr::native
