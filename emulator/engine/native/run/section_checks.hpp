// Whether the results of a section's code are what doubles, or wider ranges, would give.
#pragma once

#include "emulator/engine/native/run/section_frame.hpp"

namespace gdr::native {

/// Whether all results of floats are finite, in the active lanes.
bool results_are_finite(const SectionFrame& f);
/// False if a result of a kernel of doubles with reciprocals or roots is NaN or infinite.
bool results_are_numbers(const SectionFrame& f);
/// Whether all results depend on functions which are zero below an end: then factors and squares of
/// their values may underflow, which the size of the results tells from those that matter.
bool all_may_vanish(const SectionFrame& f);
/// False if terms that are zero may be missing in the results of a PE.
bool have_not_vanished(const SectionFrame& f);

}  // namespace gdr::native
