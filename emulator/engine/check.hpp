// Checks of a program that every engine makes before execution.
#pragma once

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Throws gdr::Error (Program), naming section and instruction, if an instruction is malformed,
/// addresses what the geometry does not have, or if there are more of them than fit. The assembler
/// checks port limits: they affect time on the chip, not results.
void check_program(const Program& program, const Geometry& geometry);

}  // namespace gdr
