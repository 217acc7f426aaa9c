// Diagnosis of a failed run on doubles: the first instruction with an inexact result.
#pragma once

#include <string>

#include "emulator/engine/vector/doubles/run.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Repeats a failed run operation by operation: "body, instruction 12, kernel.gds:40: a number is
/// too large for doubles". The block must be as it was before the run, and is left as a failed run
/// leaves it. Takes a multiple of the run's time: for one run of a section, not for every one.
std::string diagnose(const Program& program, const DoublesSection& section,
                     const DoublesKernels& kernels, BlockState& block, const BlockRun& run,
                     SourceLanes sources);

}  // namespace gdr
