// Idle clocks: proves every read safe along every way through the sections, with the fewest waits.
#pragma once

#include <array>
#include <vector>

#include "emulator/assembler/time/section_clock.hpp"

namespace gdr::assembly {

/// Waits of every section. `linear` is what each needs for what it has itself written in one pass.
///
/// The ways: Init, then runs of Start, Body any number of times (also none), End. The body waits
/// only for what it has itself written, in this iteration or the one before; what it would have to
/// wait for after Start is waited for once, at the end of Start.
using SectionPads = std::array<std::vector<Pad>, section_count>;
SectionPads schedule(const Program& program, const Geometry& geometry, const SectionPads& linear,
                     bool body_is_stale, bool track_writers);

/// The section with its idle clocks as nop instructions, and the line table beside it.
void insert_pads(std::vector<Instruction>& section, std::vector<SourceLine>& lines,
                 const std::vector<Pad>& pads, const std::vector<SourceLine>& at_end);

}  // namespace gdr::assembly
