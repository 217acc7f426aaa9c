// Inputs of a loop as functions of words that it does not change. The kernel compiler computes
// what does not depend on the sources in section Start, and so divides a function such as x^1.7 or
// atan2(y, 1) between the sections: its values tell what it is only if both parts are known.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// Sets Kernel::known of a loop from what section Start leaves. The kernel gets more inputs: words
/// of the PE that Start computes from.
void add_known_inputs(Kernel& kernel, SectionModel& start, const SectionModel& loop);

/// A segment that computes its known inputs.
struct SegmentOfKnown {
  Segment segment;
  std::vector<Ref> input;  ///< input of each node that has its value, in `inputs`, or no_ref
  Graph inputs;            ///< leaves of `input`
};
SegmentOfKnown with_known_inputs(const Segment& segment, const KnownInputs& known);

}  // namespace gdr::native
