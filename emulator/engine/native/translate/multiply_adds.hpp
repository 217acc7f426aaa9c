// Fused multiply-adds.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// Fuses products with the sums that use them, except in a difference of two products, which is
/// zero if they are equal.
Segment fused(const Segment& segment);

}  // namespace gdr::native
