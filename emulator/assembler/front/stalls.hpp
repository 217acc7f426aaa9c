// Stalls as errors, for sources without automatic idle clocks.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/time/schedule.hpp"

namespace gdr::assembly {

/// Report every stall with a note at the writing instruction.
void report_stalls(Assembly& a, const SectionPads& pads);

}  // namespace gdr::assembly
