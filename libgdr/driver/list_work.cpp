#include "libgdr/driver/list_work.hpp"

#include <bit>

#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"

namespace gdr::driver {
namespace {

constexpr double min_seconds = 5, max_seconds = 60;
constexpr double min_bytes_per_second = 20e6;
/// Seconds per PE and clock. The vector engine needs half a nanosecond, the reference engine 70.
constexpr double heartbeat_lane_clock = 0.2e-6, total_lane_clock = 20e-6;

}  // namespace

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

const ProgramTiming& ChipPrograms::of(const Command& command) const noexcept {
  static const ProgramTiming none;
  const auto first = static_cast<std::size_t>(std::countr_zero(command.chips));
  return first < chips.size() ? chips[first] : none;
}

void ChipPrograms::load(const Command& command, const ProgramTiming& program) {
  for (std::size_t c = 0; c < chips.size(); ++c)
    if (takes_part(chips_of(command), c)) chips[c] = program;
}

void ListWork::add(const Command& c, const ProgramTiming& program,
                   const Geometry& geometry) noexcept {
  if (c.kind != CommandKind::Run) return;
  const double items = static_cast<double>(c.count) /
                       (c.partition == ChipPartition::SourcesOverBlocks ? geometry.blocks : 1);
  const double iterations = items / program.group + 1;
  const double clocks = iterations * static_cast<double>(program.body_clocks) +
                        static_cast<double>(program.start_clocks + program.end_clocks);
  const double of_block = clocks * geometry.pes_per_block;
  block_lane_clocks = std::max(block_lane_clocks, of_block);
  lane_clocks += of_block * geometry.blocks * geometry.chips_per_board;
}

double response_timeout(double timeout_seconds) noexcept {
  return timeout_seconds > 0 ? timeout_seconds : max_seconds;
}

TimeoutPolicy timeout_policy(double timeout_seconds, const ListWork& work) noexcept {
  const double copying = static_cast<double>(work.bytes) / min_bytes_per_second;
  const double derived = min_seconds + copying + work.block_lane_clocks * heartbeat_lane_clock;
  TimeoutPolicy p;
  p.heartbeat_seconds = timeout_seconds > 0 ? timeout_seconds : std::min(derived, max_seconds);
  p.total_seconds = 10 * (p.heartbeat_seconds + copying) + work.lane_clocks * total_lane_clock;
  return p;
}

}  // namespace gdr::driver
