// What floats cannot represent.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// With floats, integers have 32 bits and are unrelated to the bits of numbers. Throws Unsupported
/// for operations that need more.
void check_float_operations(const Segment& segment);

/// Throws Unsupported for numbers beyond the range of floats.
void check_float_constants(const Segment& segment);

}  // namespace gdr::native
