// Programs on the chips and the work of lists, from which the driver computes sizes and timeouts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/board/program_timing.hpp"
#include "libgdr/driver/timeout_policy.hpp"

namespace gdr::driver {

/// The timing of a program in an object file; zeros for an object that the board rejects.
ProgramTiming object_timing(std::span<const std::uint64_t> payload, std::uint64_t bytes,
                            const Geometry& geometry);

/// The program on each chip of a board.
using ChipPrograms = std::vector<ProgramTiming>;

/// The program on the first chip that a command names; zeros if there is no such chip.
const ProgramTiming& program_of(const ChipPrograms& chips, const Command& command) noexcept;

/// Records the program that a LoadProgram command loads into its chips.
void load(ChipPrograms& chips, const Command& command, const ProgramTiming& program);

/// Adds the PE clocks of a run.
void add_work(ListWork& work, const Command& command, const ProgramTiming& program,
              const Geometry& geometry) noexcept;

}  // namespace gdr::driver
