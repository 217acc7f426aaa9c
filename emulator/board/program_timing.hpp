// What the lengths and the time of a program's commands depend on.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Clocks of a program's sections and the sizes of its variables on the link.
struct ProgramTiming {
  std::uint64_t init_clocks = 0, start_clocks = 0, body_clocks = 0, end_clocks = 0;
  std::uint32_t group = 1;                 ///< sources that one pass of the loop body takes
  std::uint64_t groups_per_half = 1;       ///< groups in half a broadcast memory
  std::uint64_t target_words = 0;          ///< link words of a target
  std::uint64_t source_words = 0;          ///< link words of a source
  std::uint64_t result_words = 0;          ///< link words of a target's results
  std::uint64_t raw_result_words = 0;      ///< the same with read_raw
  std::uint64_t output_words = 0;          ///< words of a record that a source leaves
  std::uint64_t output_records = 1;        ///< records of a source where all blocks see it
  std::vector<std::uint64_t> param_words;  ///< link words of each parameter

  /// Words that all records of a source take which a run with this partition leaves.
  std::uint64_t output_words_of_source(ChipPartition partition) const noexcept {
    return output_words * (partition == ChipPartition::SourcesOverBlocks ? 1 : output_records);
  }
};

/// Throws Error (Program) if the program does not fit the geometry.
ProgramTiming program_timing(const Program& program, const Geometry& geometry);

/// Words of payload that a command takes, and words that it returns. Commands that a board would
/// refuse may give anything.
std::uint64_t payload_length(const Command& command, const ProgramTiming& program) noexcept;
std::uint64_t result_length(const Command& command, const ProgramTiming& program) noexcept;

}  // namespace gdr
