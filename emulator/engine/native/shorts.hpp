// Where it shows that a short has 25 bits. Host numbers that stand for shorts are not rounded,
// which is right as long as everything that is made of one sees the same number.
#pragma once

#include "emulator/engine/native/segment.hpp"

namespace gdr::native {

/// A short that a section hands on to another is rounded on the way, and what else is made of it
/// must be made of the rounded number: a Newton step that the other section ends corrects, to first
/// order, the approximation that it began with, and not one that differs in the bits behind the
/// 25th. That goes for other kernels of the section, too, which have it as Store::Area::Left; what
/// comes back has no such stores.
Segment with_rounded_outputs(const Segment& segment);

/// The same segment without the marks of what other kernels store.
Segment without_left(Segment segment);

/// Adding a large constant and taking it away again rounds. Where a pass adds and the next one
/// takes away, the sum between them is rounded here, as it is within a pass.
Kernel with_rounded_sums(const Kernel& kernel);

}  // namespace gdr::native
