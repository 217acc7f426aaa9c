// A planned section on integers: every instruction with the kernels for strips of lanes.
#pragma once

#include "emulator/chip/state.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/vector/rows/plan.hpp"

namespace gdr {

/// Runs `run.section` through the block's broadcast memory, `run.iterations` times. Exact for every
/// number, without the sticky flags of floating point.
void run_planned(BlockState& block, const PlannedProgram& program, const StripKernels& kernels,
                 const BlockRun& run);

}  // namespace gdr
