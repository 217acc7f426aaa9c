// Whether a program's body may take its j-items from a stream, past the broadcast memory.
#pragma once

#include "emulator/isa/program.hpp"

namespace gdr {

/// True if an instruction's transfer reaches only fixed words of the broadcast memory.
bool reaches_fixed_only(const Program& program, const Instruction& i) noexcept;
/// True if all transfers of a section do.
bool keeps_to_fixed(const Program& program, Section section) noexcept;

/// True if a run of the body over a stream (BlockRun::stream, BlockRun::outputs) leaves what a run
/// through the broadcast memory does. A stream does not fill the halves of that memory pass by
/// pass, so that the body may read only fixed words and its own group of j-items. It may put words
/// only among the fixed ones or into declared output items, and of these every short in every pass:
/// an unwritten one would be what its half held before.
bool body_takes_streams(const Program& program);

}  // namespace gdr
