// Reads that come too early, as errors: where idle clocks are not wanted.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/time/schedule.hpp"

namespace gdr::assembly {

/// Report every wait with a note at the instruction that it waits for.
void report_stalls(Assembly& a, const SectionPads& pads);

}  // namespace gdr::assembly
