// How long payloads, results and work of commands are, so that a driver sends, expects and waits
// for just that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/board/command.hpp"
#include "libgdr/driver/patience.hpp"

namespace gdr::driver {

/// What a program's variables take on the link, and its sections in clocks.
struct ProgramLengths {
  std::uint32_t target_words = 0, result_words = 0, output_words = 0;
  std::uint64_t raw_words = 0;  ///< of a target's results with read_raw
  std::vector<std::uint32_t> param_words;
  std::uint64_t body_clocks = 0, other_clocks = 0;
  std::uint32_t group = 1;  ///< j-items that a pass of the body takes
};

/// Those of an object file; zeros for what is no object, which the board will refuse.
ProgramLengths program_lengths(std::span<const std::uint64_t> payload, std::uint64_t bytes);

/// What the chips of a board hold, each its own.
using ChipPrograms = std::vector<ProgramLengths>;

/// Of the chips that a command names; zeros where it names none that is there.
const ProgramLengths& program_of(const ChipPrograms& chips, const Command& command) noexcept;

/// Puts a program into the chips that a LoadProgram command names.
void load(ChipPrograms& chips, const Command& command, const ProgramLengths& program);

/// Words of payload that a command takes, and words that it returns. Commands that a board would
/// refuse may give anything.
std::uint64_t payload_length(const Command& command, const ProgramLengths& program) noexcept;
std::uint64_t result_length(const Command& command, const ProgramLengths& program) noexcept;

/// Adds the PE clocks of a run.
void add_work(ListWork& work, const Command& command, const ProgramLengths& program,
              const Geometry& geometry) noexcept;

}  // namespace gdr::driver
