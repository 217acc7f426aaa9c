// What every engine demands of a program before it runs a single instruction.
#pragma once

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Throws gdr::Error (Program), naming section and instruction, if an instruction is malformed,
/// addresses what the geometry does not have, or if there are more of them than fit. Port limits
/// are the assembler's business: they cost time on the chip, not sense.
void check_program(const Program& program, const Geometry& geometry);

}  // namespace gdr
