// Checks of a program before execution: validity, and whether its body can read j-items from a
// stream instead of the broadcast memory.
#pragma once

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Throws gdr::Error (Program), naming section and instruction, if an instruction is malformed,
/// addresses what the geometry does not have, or if there are more of them than fit. The assembler
/// checks port limits: they affect time on the chip, not results.
void check_program(const Program& program, const Geometry& geometry);

/// True if an instruction's transfer reaches only fixed words of the broadcast memory.
bool is_fixed_transfer(const Program& program, const Instruction& i) noexcept;
/// True if all transfers of a section do.
bool uses_fixed_words_only(const Program& program, Section section) noexcept;

/// True if a run of the body over a stream (BlockRun::stream, BlockRun::outputs) leaves the same
/// words as a run through the broadcast memory. A stream does not fill the halves of that memory
/// pass by pass, so that the body may read only fixed words and its own group of j-items. It may
/// store only fixed words or declared output items, and of these every short in every pass: an
/// unwritten one would hold the previous contents of its half.
bool body_accepts_streams(const Program& program);

}  // namespace gdr
