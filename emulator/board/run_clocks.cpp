#include "emulator/board/run_clocks.hpp"

#include <array>
#include <span>

namespace gdr {
namespace {

/// Groups that all slices together have within fill f.
std::uint64_t groups_of_fill(const LoopPlan& plan, std::uint64_t f) noexcept {
  // Slices of two lengths only: `longer` of them hold one group more.
  const std::uint64_t longer = plan.groups % plan.slices;
  const std::uint64_t shorter_size = plan.groups / plan.slices;
  const auto within = [&](std::uint64_t size) {
    const std::uint64_t done = f * plan.groups_per_half;
    return size > done ? std::min(plan.groups_per_half, size - done) : 0;
  };
  return longer * within(shorter_size + 1) + (plan.slices - longer) * within(shorter_size);
}

}  // namespace

ChipClocks loop_clocks(const LoopPlan& plan, const ProgramTiming& program, const Geometry& geometry,
                       std::uint32_t flags, const BoardRates& rates) noexcept {
  const std::uint64_t start = (flags & run_start) != 0 ? program.start_clocks : 0;
  const std::uint64_t end = (flags & run_end) != 0 ? program.end_clocks : 0;
  const std::uint64_t words_in = program.group * program.source_words * plan.parts;
  const std::uint64_t words_out = program.group * program.output_words_of_source(plan.partition);
  const bool to_memory = (flags & run_return) == 0;
  const GroupRange longest = plan.slice(0);
  const std::uint64_t fills = plan.fills(longest.count);
  const auto work = [&](std::uint64_t f, std::uint64_t times) {
    const std::uint64_t groups = groups_of_fill(plan, f);
    return HalfWork{times, plan.fill(longest, f).count * program.body_clocks, groups * words_in,
                    groups * words_out, to_memory};
  };
  // All fills but the last two are alike: shorter slices end at most one group, so one fill,
  // before.
  std::array<HalfWork, 3> halves{};
  if (fills > 2) halves[0] = work(0, fills - 2);
  if (fills > 1) halves[1] = work(fills - 2, 1);
  if (fills > 0) halves[2] = work(fills - 1, 1);
  const std::size_t first = fills > 2 ? 0 : 3 - static_cast<std::size_t>(fills);
  return run_clocks(start, std::span(halves).subspan(first), end, geometry.clock_hz, rates);
}

}  // namespace gdr
