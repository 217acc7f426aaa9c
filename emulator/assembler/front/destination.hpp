// Destinations of arithmetic: a location, T and a mask flag, separated by colons.
#pragma once

#include "emulator/assembler/front/instruction.hpp"

namespace gdr::assembly {

/// Parse `LOCATION:$tX:mN.flag` into the slot (dst, t, mask and width). False after an error.
bool parse_destination(Assembly& a, Cursor& c, const OpInfo& op, Arithmetic& slot,
                       unsigned slot_number, InstructionText& text);

}  // namespace gdr::assembly
