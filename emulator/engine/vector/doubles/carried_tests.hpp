// Tests of values that the pass before worked out.
#pragma once

#include "emulator/engine/vector/doubles/lay_out.hpp"

namespace gdr {

/// A loop that works ahead tests at the beginning of a pass, or of End, what the pass before left:
/// whether the distance of a pair is zero, say. The mask leaves out lanes of what that pass went on
/// to compute from the same value. In a whole run such a test is done at the end of the list
/// before, and its mask is carried: then it is known there which lanes matter (lane_demand.hpp).
void carry_tests(RowProgram& program, const DoublesKernels& kernels);

}  // namespace gdr
