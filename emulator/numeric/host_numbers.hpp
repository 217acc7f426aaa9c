// The host's integers, fixed point and single floats as machine words, in integer arithmetic only:
// nothing here depends on the rounding mode, or on the flushing of subnormals, of a host thread.
#pragma once

#include "emulator/numeric/convert.hpp"
#include "emulator/numeric/integer.hpp"

namespace gdr {

/// The nearest integer word of a location's width: outside its range the limit and flag_overflow.
u128 saturate(i128 value, Width location, Flags& flags) noexcept;

/// value * 2^point to the nearest integer (halves to even), saturating at the location's width;
/// a NaN gives 0 and flag_invalid, a subnormal is a zero.
u128 to_fixed(double value, unsigned point, Width location, Flags& flags) noexcept;

/// value / 2^point, rounded once to a double. No such value leaves the range of doubles.
double from_fixed(i128 value, unsigned point) noexcept;

}  // namespace gdr
