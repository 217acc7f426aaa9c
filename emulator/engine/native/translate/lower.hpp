// Lowering of program operations to host vector operations, as a sequence of rewriting steps.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Recognises idioms, rounds shorts, simplifies, fuses products and sums, and replaces reciprocals
/// and reciprocal square roots by the host's estimate and as many steps as their accuracy requires.
/// Throws Unsupported where floats lack the range of doubles.
/// `known`: inputs of the segment, among floats.
Segment lowered(const Segment& segment, Target target, const KnownInputs& known = {});

}  // namespace gdr::native
