// Insertion of idle clocks: every read is safe on all paths through the sections, with minimum
// stalls.
#pragma once

#include <array>
#include <vector>

#include "emulator/assembler/time/section_clock.hpp"

namespace gdr::assembly {

/// Stalls of all sections. `linear` holds the stalls of each section for its own writes in one
/// pass.
///
/// Paths: Init, then repeatedly Start, Body (any number of times), End. The body stalls only for
/// its own writes of this or the previous iteration; stalls for writes of Start are inserted once,
/// at the end of Start.
using SectionPads = std::array<std::vector<Pad>, section_count>;
SectionPads schedule(const Program& program, const Geometry& geometry, const SectionPads& linear,
                     bool body_is_stale, bool track_writers);

/// Insert idle clocks as nop instructions into a section and its line table.
void insert_pads(std::vector<Instruction>& section, std::vector<SourceLine>& lines,
                 const std::vector<Pad>& pads, const std::vector<SourceLine>& at_end);

}  // namespace gdr::assembly
