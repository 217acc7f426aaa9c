// Final phase of the assembler: layout, limits, idle clocks, the program.
#pragma once

#include "emulator/assembler/front/assembly.hpp"

namespace gdr::assembly {

/// Check and complete the whole program. Errors are added to the report.
void finish(Assembly& a);

}  // namespace gdr::assembly
