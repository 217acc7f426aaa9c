#include "emulator/board/time_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "emulator/port/loaded_program.hpp"

namespace gdr {
namespace {

/// Clocks in which both ports and the memory move these words concurrently; `stored` of the words
/// that leave the chip go to memory.
std::uint64_t transfer_clocks(std::uint64_t in, std::uint64_t out, std::uint64_t stored,
                              double clock_hz, const BoardRates& rates) noexcept {
  const double seconds = static_cast<double>((in + stored) * word_bytes) / rates.dram;
  // Rounding of the product must not add a clock.
  const double memory = std::ceil(seconds * clock_hz * (1 - 1e-12));
  return std::max({in * rates.port_in, out * rates.port_out, static_cast<std::uint64_t>(memory)});
}

/// Groups that all slices together have within fill f.
std::uint64_t groups_of_fill(const LoopPlan& plan, std::uint64_t f) noexcept {
  // Slices have two lengths: `longer` of them have one group more.
  const std::uint64_t longer = plan.groups % plan.slices;
  const std::uint64_t shorter_size = plan.groups / plan.slices;
  const auto within = [&](std::uint64_t size) {
    const std::uint64_t done = f * plan.groups_per_half;
    return size > done ? std::min(plan.groups_per_half, size - done) : 0;
  };
  return longer * within(shorter_size + 1) + (plan.slices - longer) * within(shorter_size);
}

}  // namespace

WorkCounts& WorkCounts::operator+=(const WorkCounts& other) noexcept {
  compute_clocks += other.compute_clocks;
  port_in_clocks += other.port_in_clocks;
  port_out_clocks += other.port_out_clocks;
  chip_clocks += other.chip_clocks;
  link_write_bytes += other.link_write_bytes;
  link_read_bytes += other.link_read_bytes;
  interactions += other.interactions;
  flops += other.flops;
  predicted_seconds += other.predicted_seconds;
  return *this;
}

std::span<const TimeConstant> time_constants() noexcept {
  static constexpr std::array table{constants::chip_clock, constants::port_in,
                                    constants::port_out,   constants::dram,
                                    constants::link_write, constants::link_read};
  return table;
}

ChipClocks& ChipClocks::operator+=(const ChipClocks& other) noexcept {
  compute += other.compute;
  port_in += other.port_in;
  port_out += other.port_out;
  total += other.total;
  return *this;
}

ChipClocks run_clocks(std::uint64_t start, std::span<const HalfWork> halves, std::uint64_t end,
                      double clock_hz, const BoardRates& rates) noexcept {
  ChipClocks sum{start + end, 0, 0, start + end};
  std::uint64_t words_before = 0;  // results of the previous half, transferred during this one
  for (std::size_t h = 0; h < halves.size(); ++h) {
    const HalfWork& half = halves[h];
    if (half.times == 0) continue;
    if (h == 0) sum.total += transfer_clocks(half.words_in, 0, 0, clock_hz, rates);
    const std::uint64_t next_fill = h + 1 < halves.size() ? halves[h + 1].words_in : 0;
    const auto step = [&](std::uint64_t in, std::uint64_t out) {
      return std::max(half.compute,
                      transfer_clocks(in, out, half.out_to_memory ? out : 0, clock_hz, rates));
    };
    // The neighbours of equal halves are equal, except those of the first and the last.
    if (half.times == 1) {
      sum.total += step(next_fill, words_before);
    } else {
      sum.total += step(half.words_in, words_before) + step(next_fill, half.words_out) +
                   (half.times - 2) * step(half.words_in, half.words_out);
    }
    sum.compute += half.times * half.compute;
    sum.port_in += half.times * half.words_in * rates.port_in;
    sum.port_out += half.times * half.words_out * rates.port_out;
    words_before = half.words_out;
  }
  const bool stored = halves.empty() || halves.back().out_to_memory;
  sum.total += transfer_clocks(0, words_before, stored ? words_before : 0, clock_hz, rates);
  return sum;
}

void Timeline::restart(std::vector<BusyTime>* busy) noexcept {
  record_ = busy;
  std::ranges::fill(chips_, 0.0);
  uses_.clear();
  link_write_ = link_read_ = 0;
}

void Timeline::record(BusyPart part, std::size_t chip, double begin, double end) {
  if (end > begin)
    record_->push_back({part, static_cast<std::uint32_t>(chip), command_, begin, end});
}

void Timeline::transfer(BusyPart direction, std::uint64_t bytes) {
  const bool write = direction == BusyPart::LinkWrite;
  double& free = write ? link_write_ : link_read_;
  const double begin = free;
  free += static_cast<double>(bytes) / (write ? rates_.link_write : rates_.link_read);
  if (record_ != nullptr) record(direction, 0, begin, free);
}

void Timeline::busy(std::uint64_t chips, double from, std::uint64_t clocks) {
  const double seconds = static_cast<double>(clocks) / clock_hz_;
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    if (!takes_part(chips, c)) continue;
    const double begin = std::max(chips_[c], from);
    chips_[c] = begin + seconds;
    if (record_ != nullptr) record(BusyPart::Chip, c, begin, chips_[c]);
  }
}

/// When the last of these chips is free.
double Timeline::free_time(std::uint64_t chips) const noexcept {
  double last = 0;
  for (std::size_t c = 0; c < chips_.size(); ++c)
    if (takes_part(chips, c)) last = std::max(last, chips_[c]);
  return last;
}

void Timeline::write_memory(std::uint64_t chips, std::uint64_t bytes, std::uint64_t begin,
                            std::uint64_t end) {
  for (const Use& use : uses_) {
    const bool shared = (use.chips & chips) != 0 && use.begin < end && begin < use.end;
    if (shared) link_write_ = std::max(link_write_, use.until);
  }
  transfer(BusyPart::LinkWrite, bytes);
}

void Timeline::load(std::uint64_t chips, std::uint64_t bytes, std::uint64_t clocks) {
  transfer(BusyPart::LinkWrite, bytes);
  busy(chips, link_write_, clocks);
}

void Timeline::run(std::uint64_t chips, std::uint64_t clocks, std::uint64_t begin,
                   std::uint64_t end) {
  busy(chips, link_write_, clocks);
  std::erase_if(uses_, [this](const Use& use) { return use.until <= link_write_; });
  uses(chips, begin, end);
}

void Timeline::run_returning(std::uint64_t chips, std::uint64_t clocks, std::uint64_t begin,
                             std::uint64_t end, std::uint64_t bytes) {
  const double from = std::max(link_write_, free_time(chips));
  run(chips, clocks, begin, end);
  link_read_ = std::max(link_read_, from);
  transfer(BusyPart::LinkRead, bytes);
  link_read_ = std::max(link_read_, free_time(chips));
}

void Timeline::uses(std::uint64_t chips, std::uint64_t begin, std::uint64_t end) {
  if (begin < end) uses_.push_back({chips, begin, end, free_time(chips)});
}

void Timeline::read(std::uint64_t chips, std::uint64_t bytes, std::uint64_t clocks) {
  busy(chips, 0, clocks);
  link_read_ = std::max(link_read_, free_time(chips));
  transfer(BusyPart::LinkRead, bytes);
}

double Timeline::seconds() const noexcept {
  return std::max({link_write_, link_read_, *std::ranges::max_element(chips_)});
}

ProgramTiming program_timing(const Program& p, const Geometry& geometry) {
  const LinkLayout layout = link_layout(p);
  ProgramTiming timing;
  timing.init_clocks = p.clocks(Section::Init);
  timing.start_clocks = p.clocks(Section::Start);
  timing.body_clocks = p.clocks(Section::Body);
  timing.end_clocks = p.clocks(Section::End);
  timing.group = std::max(1U, p.group);
  timing.groups_per_half = place_halves(p, geometry).groups;
  timing.target_words = layout.target_words;
  timing.source_words = layout.source_words;
  timing.result_words = words_of_target(layout, 0);
  timing.raw_result_words = words_of_target(layout, read_raw);
  timing.unjoined_words = unjoined_words_of_target(p, 0);
  timing.raw_unjoined_words = unjoined_words_of_target(p, read_raw);
  timing.output_words = layout.output_words;
  timing.output_records = output_records(p, geometry, ChipPartition::TargetsOverBlocks);
  for (const LinkLayout::Field& field : layout.params)
    timing.param_words.push_back((field.half_words + 1) / 2);
  return timing;
}

std::uint64_t payload_length(const Command& c, const ProgramTiming& program) noexcept {
  switch (c.kind) {
    case CommandKind::LoadProgram:
      return c.count / word_bytes + (c.count % word_bytes != 0 ? 1 : 0);
    case CommandKind::WriteMemory:
      return c.count;
    case CommandKind::WriteTargets:
      return c.count * program.target_words;
    case CommandKind::WriteParam:
      return c.variable < program.param_words.size() ? program.param_words[c.variable] : 0;
    default:
      return 0;
  }
}

std::uint64_t result_length(const Command& c, const ProgramTiming& program) noexcept {
  switch (c.kind) {
    case CommandKind::ReadTargets:
      return c.count *
             ((c.flags & read_raw) != 0 ? program.raw_result_words : program.result_words);
    case CommandKind::ReadMemory:
      return c.count;
    case CommandKind::Run:
      return (c.flags & run_return) != 0 ? c.count * program.output_words_of_source(c.partition)
                                         : 0;
    default:
      return 0;
  }
}

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
  // All fills but the last two are equal: shorter slices end at most one group, thus one fill,
  // earlier.
  std::array<HalfWork, 3> halves{};
  if (fills > 2) halves[0] = work(0, fills - 2);
  if (fills > 1) halves[1] = work(fills - 2, 1);
  if (fills > 0) halves[2] = work(fills - 1, 1);
  const std::size_t first = fills > 2 ? 0 : 3 - static_cast<std::size_t>(fills);
  return run_clocks(start, std::span(halves).subspan(first), end, geometry.clock_hz, rates);
}

ListTimer::ListTimer(const Geometry& geometry, const BoardRates& rates)
    : geometry_(geometry),
      rates_(rates),
      timeline_(geometry.chips_per_board, geometry.clock_hz, rates),
      chips_(geometry.chips_per_board) {}

void ListTimer::add_clocks(std::uint64_t chips, const ChipClocks& clocks) noexcept {
  for (std::size_t c = 0; c < chips_.size(); ++c)
    if (takes_part(chips, c)) chips_[c] += clocks;
}

void ListTimer::add(const Command& c, const ProgramTiming& program) {
  const std::uint64_t in = payload_length(c, program), out = result_length(c, program);
  const auto load = [&](const ChipClocks& clocks) {
    add_clocks(chips_of(c), clocks);
    timeline_.load(chips_of(c), in * word_bytes, clocks.total);
  };
  timeline_.set_command(c.kind);
  counts_.link_write_bytes += in * word_bytes;
  counts_.link_read_bytes += out * word_bytes;
  switch (c.kind) {
    case CommandKind::LoadProgram:
      load({program.init_clocks, 0, 0, program.init_clocks});
      break;
    case CommandKind::WriteMemory:
      timeline_.write_memory(c.chips, in * word_bytes, c.address, c.address + c.count);
      break;
    case CommandKind::WriteTargets:
    case CommandKind::WriteParam:
      load({0, in * rates_.port_in, 0, in * rates_.port_in});
      break;
    case CommandKind::Run:
      run(c, program);
      break;
    case CommandKind::ReadTargets:
    case CommandKind::ReadMemory: {
      const bool through_port = c.kind == CommandKind::ReadTargets;
      const std::uint64_t clocks =
          through_port ? (out + unjoined_words(c, program)) * rates_.port_out : 0;
      add_clocks(c.chips, {0, 0, clocks, clocks});
      timeline_.read(c.chips, out * word_bytes, clocks);
      break;
    }
  }
}

/// Words of the port beyond those of the result: of keys and indices, from every block but one.
std::uint64_t ListTimer::unjoined_words(const Command& c,
                                        const ProgramTiming& program) const noexcept {
  if (c.partition != ChipPartition::SourcesOverBlocks) return 0;
  const bool raw = (c.flags & read_raw) != 0;
  return c.count * (raw ? program.raw_unjoined_words : program.unjoined_words) *
         (geometry_.blocks - 1);
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

/// Chips work concurrently: the busiest one determines the clocks of the board.
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
