// How long payloads and results of commands are, so that a driver sends and expects just that.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/board/command.hpp"

namespace gdr::driver {

/// What a program's variables take on the link: of the one that a board holds.
struct ProgramLengths {
  std::uint32_t target_words = 0, result_words = 0, output_words = 0;
  std::uint64_t raw_words = 0;  ///< of a target's results with read_raw
  std::vector<std::uint32_t> param_words;
};

/// Those of an object file; zeros for what is no object, which the board will refuse.
ProgramLengths program_lengths(std::span<const std::uint64_t> payload, std::uint64_t bytes);

/// Words of payload that a command takes, and words that it returns. Commands that a board would
/// refuse may give anything.
std::uint64_t payload_length(const Command& command, const ProgramLengths& program) noexcept;
std::uint64_t result_length(const Command& command, const ProgramLengths& program) noexcept;

}  // namespace gdr::driver
