#include "libgdr/driver/list_work.hpp"

#include <algorithm>
#include <bit>

#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"

namespace gdr::driver {

ProgramTiming object_timing(std::span<const std::uint64_t> payload, std::uint64_t bytes,
                            const Geometry& geometry) {
  if (bytes > payload.size_bytes()) return {};
  try {
    return program_timing(
        read_object(std::span(reinterpret_cast<const std::uint8_t*>(payload.data()), bytes)),
        geometry);
  } catch (const Error&) {
    return {};
  }
}

const ProgramTiming& program_of(const ChipPrograms& chips, const Command& command) noexcept {
  static const ProgramTiming none;
  const auto first = static_cast<std::size_t>(std::countr_zero(command.chips));
  return first < chips.size() ? chips[first] : none;
}

void load(ChipPrograms& chips, const Command& command, const ProgramTiming& program) {
  for (std::size_t c = 0; c < chips.size(); ++c)
    if (command.chips == 0 || ((command.chips >> c) & 1) != 0) chips[c] = program;
}

void add_work(ListWork& work, const Command& c, const ProgramTiming& program,
              const Geometry& geometry) noexcept {
  if (c.kind != CommandKind::Run) return;
  const double items = static_cast<double>(c.count) /
                       (c.partition == ChipPartition::SourcesOverBlocks ? geometry.blocks : 1);
  const double passes = items / program.group + 1;
  const double clocks = passes * static_cast<double>(program.body_clocks) +
                        static_cast<double>(program.start_clocks + program.end_clocks);
  const double block_lane_clocks = clocks * geometry.pes_per_block;
  work.block_lane_clocks = std::max(work.block_lane_clocks, block_lane_clocks);
  work.lane_clocks += block_lane_clocks * geometry.blocks * geometry.chips_per_board;
}

}  // namespace gdr::driver
