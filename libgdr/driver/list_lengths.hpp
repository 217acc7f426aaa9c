// How long payloads, results and work of commands are, so that a driver sends, expects and waits
// for just that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/board/program_timing.hpp"
#include "libgdr/driver/patience.hpp"

namespace gdr::driver {

/// The timing of a program in an object file; zeros for what the board will refuse.
ProgramTiming object_timing(std::span<const std::uint64_t> payload, std::uint64_t bytes,
                            const Geometry& geometry);

/// What the chips of a board hold, each its own.
using ChipPrograms = std::vector<ProgramTiming>;

/// Of the chips that a command names; zeros where it names none that is there.
const ProgramTiming& program_of(const ChipPrograms& chips, const Command& command) noexcept;

/// Puts a program into the chips that a LoadProgram command names.
void load(ChipPrograms& chips, const Command& command, const ProgramTiming& program);

/// Adds the PE clocks of a run.
void add_work(ListWork& work, const Command& command, const ProgramTiming& program,
              const Geometry& geometry) noexcept;

}  // namespace gdr::driver
