// Selects: those that other masks decide, and sums under a mask.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// Without selects whose choice the mask of another select decides.
Segment without_decided_selects(const Segment& segment);

/// Without the selects that make sqrt(0) zero, where a result is not used for such an argument.
Segment without_masked_zeros_of_roots(const Segment& segment);

/// For hosts without masked operations: p + q under a mask as p + (mask ? q : 0).
Segment with_masked_terms(const Segment& segment);

}  // namespace gdr::native
