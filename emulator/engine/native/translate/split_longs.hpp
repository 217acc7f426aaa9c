// Mixed precision: distances from longs that are pairs of floats.
//
// A float holds a position to 6e-8 of its magnitude, so the distance of two close particles would
// lose most of its bits. With a long as two floats, x = high + rest, the difference
//   (high_j - high_i) + (rest_j - rest_i)
// is as accurate as a float can be, at the cost of two more operations.
#pragma once

#include "emulator/engine/native/translate/kernel.hpp"

namespace gdr::native {

/// Splits the longs of targets and sources whose difference is squared, like positions: of a
/// difference that is only a factor, such as that of velocities, one float of each is enough.
/// Among doubles the rests are zero.
Kernel with_split_distances(const Kernel& kernel);

}  // namespace gdr::native
