// Where numbers have to be rounded to the 25 bits of a short.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// Rounds shorts where that is observable. Host numbers that represent shorts are not rounded in
/// general, which is correct as long as all uses of one read the same number. A short that another
/// section reads is rounded in the state, so all its uses must read the rounded number: a Newton
/// step that the other section completes corrects, to first order, the approximation that it
/// started from. The same holds for other kernels of the section, which mark it as
/// Store::Area::Left; the result has no such stores.
Segment round_outputs(const Segment& segment);

/// Removes the stores that only mark shorts for `round_outputs`.
void drop_left_stores(Segment& segment);

/// Without the rounding of longs that become shorts: floats are as coarse as shorts, so that such a
/// long stays the same float.
Segment without_conversions(const Segment& segment);

/// Adding and subtracting a large constant rounds. If one iteration adds and the next subtracts,
/// the sum between them is rounded here, as within an iteration.
Kernel round_loop_sums(const Kernel& kernel);

}  // namespace gdr::native
