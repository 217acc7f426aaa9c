#include "emulator/board/list_timer.hpp"

#include <algorithm>

#include "emulator/board/run_clocks.hpp"

namespace gdr {
namespace {

constexpr std::uint64_t word_bytes = 8;

}  // namespace

ListTimer::ListTimer(const Geometry& geometry, const BoardRates& rates)
    : geometry_(geometry),
      rates_(rates),
      timeline_(geometry.chips_per_board, geometry.clock_hz, rates),
      chips_(geometry.chips_per_board) {}

void ListTimer::begin(std::vector<BusyTime>* busy) {
  timeline_.restart();
  timeline_.record(busy);
}

void ListTimer::add_clocks(std::uint64_t chips, const ChipClocks& clocks) noexcept {
  for (std::size_t c = 0; c < chips_.size(); ++c)
    if (((chips >> c) & 1) != 0) chips_[c] += clocks;
}

void ListTimer::add(const Command& c, const ProgramTiming& program) {
  const std::uint64_t in = payload_length(c, program), out = result_length(c, program);
  const auto load = [&](std::uint64_t chips, const ChipClocks& clocks) {
    add_clocks(chips, clocks);
    timeline_.load(chips, in * word_bytes, clocks.total);
  };
  const auto read = [&](const ChipClocks& clocks) {
    add_clocks(c.chips, clocks);
    timeline_.read(c.chips, out * word_bytes, clocks.total);
  };
  timeline_.doing(c.kind);
  counts_.link_write_bytes += in * word_bytes;
  counts_.link_read_bytes += out * word_bytes;
  switch (c.kind) {
    case CommandKind::LoadProgram:
      load(c.chips == 0 ? ~std::uint64_t{0} : c.chips,
           {program.init_clocks, 0, 0, program.init_clocks});
      break;
    case CommandKind::WriteMemory:
      timeline_.write_memory(c.chips, in * word_bytes, c.address, c.address + c.count);
      break;
    case CommandKind::WriteTargets:
    case CommandKind::WriteParam:
      load(c.chips, load_clocks(in, rates_));
      break;
    case CommandKind::Run:
      run(c, program);
      break;
    case CommandKind::ReadTargets:
      read(read_clocks(out, rates_));
      break;
    case CommandKind::ReadMemory:
      read({});
      break;
  }
}

void ListTimer::run(const Command& c, const ProgramTiming& program) {
  const LoopPlan plan =
      make_plan(program.group, program.groups_per_half, geometry_, c.partition, c.count);
  const std::uint64_t source_words = program.source_words * plan.parts;
  const ChipClocks clocks = loop_clocks(plan, program, geometry_, c.flags, rates_);
  add_clocks(c.chips, clocks);
  const std::uint64_t end = c.address + c.count * source_words;
  if ((c.flags & run_return) != 0) {
    timeline_.run_returning(c.chips, clocks.total, c.address, end,
                            result_length(c, program) * word_bytes);
    return;
  }
  timeline_.run(c.chips, clocks.total, c.address, end);
  timeline_.uses(c.chips, c.output_address,
                 c.output_address + c.count * program.output_words_of_source(c.partition));
}

/// Chips work side by side: the busiest one determines the clocks of the board.
void ListTimer::end() noexcept {
  ChipClocks most;
  for (const ChipClocks& chip : chips_) {
    most.compute = std::max(most.compute, chip.compute);
    most.port_in = std::max(most.port_in, chip.port_in);
    most.port_out = std::max(most.port_out, chip.port_out);
    most.total = std::max(most.total, chip.total);
  }
  counts_.compute_clocks = most.compute;
  counts_.port_in_clocks = most.port_in;
  counts_.port_out_clocks = most.port_out;
  counts_.chip_clocks = most.total;
  counts_.predicted_seconds += timeline_.seconds();
}

void ListTimer::reset() noexcept {
  counts_ = {};
  std::ranges::fill(chips_, ChipClocks{});
}

}  // namespace gdr
