// Square roots by the host's instruction.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Square roots, x / sqrt(x), by the host's instruction, which runs beside products and sums.
Segment with_square_roots(const Segment& segment);

/// Whether square roots by the instruction take less time than steps, in code with them: a vector
/// of doubles takes 9 clocks on Zen 5, with AVX2 8 and the quotient 5, in which other operations
/// must have enough to do. Measured there: 1.09 of the rate with 33 others for a root, 0.74 with 7;
/// reciprocal roots with AVX2: 1.08 with 17 others, 1.3 with 37.
bool square_roots_pay(const Segment& with_instructions, Isa isa);

}  // namespace gdr::native
