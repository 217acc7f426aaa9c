// Integers from numbers and back: what programs compute by large constants and bits, as
// conversions.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Recognises the integer of a short, rounded towards zero (int(x) in kernels), by its values, and
/// ints that become numbers. Elements of tables get numbers that are not shifted. A number is not
/// rounded to a short before it becomes an integer.
Segment with_integers(const Segment& segment, Precision precision);

/// With floats, integers have 32 bits. Throws Unsupported for integers that are computed with,
/// other than counters, and the numbers of elements of tables: of these only the last bits count.
void check_float_integers(const Segment& segment);

}  // namespace gdr::native
