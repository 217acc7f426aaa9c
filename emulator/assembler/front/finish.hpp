// What can only be done once the whole source is read: layout, limits, idle clocks, the program.
#pragma once

#include "emulator/assembler/front/assembly.hpp"

namespace gdr::assembly {

/// Check what concerns the whole program and complete it. Errors go into the report.
void finish(Assembly& a);

}  // namespace gdr::assembly
