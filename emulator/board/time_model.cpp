#include "emulator/board/time_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gdr {
namespace {

constexpr double bytes_in_word = 8;

bool has(std::uint64_t mask, std::size_t chip) noexcept { return ((mask >> chip) & 1) != 0; }

/// Clocks in which ports and memory move these words, all three side by side; `stored` of those
/// that come out go to memory.
std::uint64_t transfer_clocks(std::uint64_t in, std::uint64_t out, std::uint64_t stored,
                              double clock_hz, const BoardRates& rates) noexcept {
  const double seconds = static_cast<double>(in + stored) * bytes_in_word / rates.dram;
  // The last bits of a product of decimals must not cost a clock.
  const double memory = std::ceil(seconds * clock_hz * (1 - 1e-12));
  return std::max({in * rates.port_in, out * rates.port_out, static_cast<std::uint64_t>(memory)});
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

ChipClocks load_clocks(std::uint64_t words, const BoardRates& rates) noexcept {
  return {0, words * rates.port_in, 0, words * rates.port_in};
}

ChipClocks read_clocks(std::uint64_t words, const BoardRates& rates) noexcept {
  return {0, 0, words * rates.port_out, words * rates.port_out};
}

ChipClocks run_clocks(std::uint64_t start, std::span<const HalfWork> halves, std::uint64_t end,
                      double clock_hz, const BoardRates& rates) noexcept {
  ChipClocks sum{start + end, 0, 0, start + end};
  std::uint64_t words_before = 0;  // results of the half before, which leave during this one
  for (std::size_t h = 0; h < halves.size(); ++h) {
    const HalfWork& half = halves[h];
    if (half.times == 0) continue;
    if (h == 0) sum.total += transfer_clocks(half.words_in, 0, 0, clock_hz, rates);
    const std::uint64_t next_fill = h + 1 < halves.size() ? halves[h + 1].words_in : 0;
    const auto step = [&](std::uint64_t in, std::uint64_t out) {
      return std::max(half.compute,
                      transfer_clocks(in, out, half.out_to_memory ? out : 0, clock_hz, rates));
    };
    // Within equal halves the neighbours are equal too, except before the first, after the last.
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

void Timeline::restart() noexcept {
  std::ranges::fill(chips_, 0.0);
  uses_.clear();
  link_write_ = link_read_ = 0;
}

void Timeline::note(BusyPart part, std::size_t chip, double begin, double end) {
  if (record_ != nullptr && end > begin)
    record_->push_back({part, static_cast<std::uint32_t>(chip), command_, begin, end});
}

void Timeline::send(std::uint64_t bytes) {
  const double begin = link_write_;
  link_write_ += static_cast<double>(bytes) / rates_.link_write;
  note(BusyPart::LinkWrite, 0, begin, link_write_);
}

void Timeline::receive(std::uint64_t bytes) {
  const double begin = link_read_;
  link_read_ += static_cast<double>(bytes) / rates_.link_read;
  note(BusyPart::LinkRead, 0, begin, link_read_);
}

void Timeline::busy(std::uint64_t chips, double from, std::uint64_t clocks) {
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    if (has(chips, c)) {
      const double begin = std::max(chips_[c], from);
      chips_[c] = begin + static_cast<double>(clocks) / clock_hz_;
      note(BusyPart::Chip, c, begin, chips_[c]);
    }
  }
}

void Timeline::write_memory(std::uint64_t chips, std::uint64_t bytes, std::uint64_t begin,
                            std::uint64_t end) {
  for (const Use& use : uses_) {
    const bool shared = (use.chips & chips) != 0 && use.begin < end && begin < use.end;
    if (shared) link_write_ = std::max(link_write_, use.until);
  }
  send(bytes);
}

void Timeline::load(std::uint64_t chips, std::uint64_t bytes, std::uint64_t clocks) {
  send(bytes);
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
  double from = link_write_;
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    if (has(chips, c)) from = std::max(from, chips_[c]);
  }
  run(chips, clocks, begin, end);
  link_read_ = std::max(link_read_, from);
  receive(bytes);
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    if (has(chips, c)) link_read_ = std::max(link_read_, chips_[c]);
  }
}

void Timeline::uses(std::uint64_t chips, std::uint64_t begin, std::uint64_t end) {
  double until = 0;
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    if (has(chips, c)) until = std::max(until, chips_[c]);
  }
  if (begin < end) uses_.push_back({chips, begin, end, until});
}

void Timeline::read(std::uint64_t chips, std::uint64_t bytes, std::uint64_t clocks) {
  busy(chips, 0, clocks);
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    if (has(chips, c)) link_read_ = std::max(link_read_, chips_[c]);
  }
  receive(bytes);
}

double Timeline::seconds() const noexcept {
  return std::max({link_write_, link_read_, *std::ranges::max_element(chips_)});
}

}  // namespace gdr
