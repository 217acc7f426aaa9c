// Doubles as floats for a card.
#pragma once

#include <cstddef>

namespace gdr {

/// The floats of doubles, with zeros for subnormal doubles. False if a number is outside of the
/// range of floats; infinities and NaN are not.
bool round_to_floats(const double* from, std::size_t n, float* to);

}  // namespace gdr
