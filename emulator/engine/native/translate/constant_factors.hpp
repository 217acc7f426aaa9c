// Constant factors of products, and arithmetic that only the chip needs.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// Removes arithmetic that only the chip needs: subtractions of zero, by which a program sets a
/// mask. Moves constant factors to where they cost least: c (x w) and c (y w) are x (c w) and y (c
/// w), and c (x (k y)) is x ((c k) y). Values within 20 powers of two of the ends of the range may
/// become zero or infinite. Runs before products and sums are fused.
Segment simplified(const Segment& segment);

}  // namespace gdr::native
