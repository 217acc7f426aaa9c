// Functions that programs compute from the bits of numbers, for floats: found by their values, and
// coded in steps that are accurate in floats.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Replaces values that are a function of another one, such as e^x, by Function or Truncate nodes.
/// Marks the stores that depend on functions that are zero below their end (Store::may_vanish).
/// `known`: inputs of the segment.
Segment with_functions(const Segment& segment, const KnownInputs& known);

/// Function nodes as operations on floats. An argument for which floats have no accurate value, or
/// a result that is infinite or not a number, gives NaN or infinity, so that the run is repeated in
/// doubles.
Segment with_function_steps(const Segment& segment, Target target);

}  // namespace gdr::native
