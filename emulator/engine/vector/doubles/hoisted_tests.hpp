// Hoisting of tests into the previous pass.
#pragma once

#include "emulator/engine/vector/doubles/frame_layout.hpp"

namespace gdr {

/// A software-pipelined loop tests values of the previous pass, such as a distance of zero, at the
/// beginning of a pass or of End. The mask excludes lanes that the previous pass computed from the
/// same value. In a fused run such a test moves to the end of the previous list and its mask is
/// carried, so that the liveness analysis there knows the excluded lanes (lane_liveness.hpp).
void hoist_tests(RowProgram& program, const DoublesKernels& kernels);

}  // namespace gdr
