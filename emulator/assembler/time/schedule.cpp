#include "emulator/assembler/time/schedule.hpp"

#include <algorithm>

namespace gdr::assembly {
namespace {

unsigned total(const std::vector<Pad>& pads) noexcept {
  unsigned sum = 0;
  for (const Pad& pad : pads) sum += pad.stall.clocks;
  return sum;
}

/// Writes younger than the latency, relative to a later clock.
std::vector<RecentWrite> aged(std::vector<RecentWrite> writes, unsigned clocks) {
  for (RecentWrite& w : writes) w.age += clocks;
  std::erase_if(writes, [](const RecentWrite& w) { return w.age >= result_latency; });
  return writes;
}

/// Union of both sets; of two writes to one location the younger.
std::vector<RecentWrite> merged(std::vector<RecentWrite> a, const std::vector<RecentWrite>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end(), [](const RecentWrite& x, const RecentWrite& y) {
    return x.location != y.location ? x.location < y.location : x.age < y.age;
  });
  const auto is_same_location = [](const RecentWrite& x, const RecentWrite& y) {
    return x.location == y.location;
  };
  a.erase(std::unique(a.begin(), a.end(), is_same_location), a.end());
  return a;
}

class Scheduler {
 public:
  Scheduler(const Program& program, const Geometry& geometry, bool track)
      : program_(program), geometry_(geometry), timeline_(geometry, track) {}

  /// Issues every instruction as early as possible after `entry`.
  std::vector<Pad> earliest(Section s, const std::vector<RecentWrite>& entry) {
    const auto& section = program_.section(s);
    std::vector<Pad> pads;
    timeline_.reset();
    timeline_.seed(entry);
    for (std::uint32_t i = 0; i < section.size(); ++i) {
      accesses_.collect(section[i], geometry_);
      const Stall stall = timeline_.issue_early(accesses_, {static_cast<std::uint8_t>(s), i});
      if (stall.clocks != 0) pads.push_back({i, stall});
    }
    return pads;
  }

  /// The stalls of `linear` if they suffice after `entry`, else those of the earliest schedule.
  std::vector<Pad> after(Section s, const std::vector<Pad>& linear,
                         const std::vector<RecentWrite>& entry) {
    return remaining_stall(s, linear, entry).clocks == 0 ? linear : earliest(s, entry);
  }

  /// The longest stall that remains in a section with pads after `entry`. Only the first clocks can
  /// be affected.
  Stall remaining_stall(Section s, const std::vector<Pad>& pads,
                        const std::vector<RecentWrite>& entry) {
    const auto& section = program_.section(s);
    Stall worst;
    if (entry.empty()) return worst;
    timeline_.reset();
    timeline_.seed(entry);
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < section.size() && timeline_.now() < result_latency; ++i) {
      for (; next < pads.size() && pads[next].index == i; ++next)
        timeline_.advance(pads[next].stall.clocks);
      accesses_.collect(section[i], geometry_);
      const Stall stall = timeline_.stall_of(accesses_);
      if (stall.clocks > worst.clocks) {
        worst = stall;
        worst.reader = i;
      }
      timeline_.issue(accesses_, {static_cast<std::uint8_t>(s), i});
    }
    return worst;
  }
  /// Recent writes at the end of a section; those of `entry` remain visible through a short one.
  std::vector<RecentWrite> exit(Section s, const std::vector<Pad>& pads,
                                const std::vector<RecentWrite>& entry) {
    const auto& section = program_.section(s);
    std::vector<RecentWrite> writes;
    unsigned to_end = 0;
    std::size_t pad = pads.size();
    const auto n = static_cast<std::uint32_t>(section.size());
    for (std::uint32_t i = n; to_end < result_latency + 2 * max_elements; --i) {
      for (; pad > 0 && pads[pad - 1].index == i; --pad) to_end += pads[pad - 1].stall.clocks;
      if (i == 0) {
        writes = merged(std::move(writes), aged(entry, to_end));
        break;
      }
      accesses_.collect(section[i - 1], geometry_);
      to_end += accesses_.clocks();
      add_writes(writes, to_end, {static_cast<std::uint8_t>(s), i - 1});
    }
    return merged(std::move(writes), {});
  }

  /// Stalls of the body as its own successor, with the shortest possible body: for a given length,
  /// pads grow to a fixed point, which is the earliest schedule; the result is the least length for
  /// which it fits.
  std::vector<Pad> close_loop(const std::vector<Pad>& linear) {
    const unsigned least = total(linear);
    for (unsigned target = least; target <= least + 2 * result_latency; ++target) {
      std::vector<Pad> pads = linear;
      for (unsigned round = 0; round < 64 && total(pads) <= target; ++round) {
        const auto entry = aged(exit(Section::Body, pads, {}), target - total(pads));
        if (remaining_stall(Section::Body, pads, entry).clocks == 0)
          return spread(std::move(pads), target);
        pads = earliest(Section::Body, entry);
      }
    }
    return linear;  // not reached: additional idle clocks of the latency always suffice
  }

 private:
  /// `pads` belong to a body with `target` idle clocks; insert the remaining ones before the
  /// readers that need them or, if that fails, before the first instruction.
  std::vector<Pad> spread(std::vector<Pad> pads, unsigned target) {
    const unsigned left = target - total(pads);
    if (left == 0) return pads;
    const auto entry = exit(Section::Body, pads, {});
    std::vector<Pad> placed = earliest(Section::Body, entry);
    if (total(placed) == target &&
        remaining_stall(Section::Body, placed, exit(Section::Body, placed, {})).clocks == 0) {
      return placed;
    }
    Stall stall = remaining_stall(Section::Body, pads, entry);
    stall.clocks = left;
    pads.insert(pads.begin(), {0, stall});
    return pads;
  }

  void add_writes(std::vector<RecentWrite>& writes, unsigned issued_before_end,
                  InstructionPlace producer) {
    for (unsigned k = 0; k < accesses_.vlen; ++k) {
      for (const Access& access : accesses_.lists[k]) {
        if (!access.write) continue;
        const unsigned age = issued_before_end - accesses_.clock_of(k, access);
        if (age >= result_latency) continue;
        // In the next iteration a stream item is a different location.
        if (access.what == Access::What::BmSource || access.what == Access::What::BmOutput)
          continue;
        const auto [first, end] = timeline_.locations().range(access, k);
        for (std::uint32_t i = first; i < end; ++i) writes.push_back({i, age, producer});
      }
    }
  }

  const Program& program_;
  const Geometry& geometry_;
  Timeline timeline_;
  InstructionAccesses accesses_;
};

}  // namespace

LocationIndex::LocationIndex(const Geometry& geometry) noexcept
    : local_shorts_(geometry.local_words * 2) {
  const std::uint32_t bm = geometry.broadcast_words * 2;
  // In the order of Access::What: Register, Local, T, Bm, BmSource, BmOutput, Mask.
  const std::array<std::uint32_t, 7> sizes{
      geometry.register_words * 2,  local_shorts_, max_elements * 2, bm, bm, bm,
      mask_registers * max_elements};
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    base_[i] = next;
    next += sizes[i];
  }
  count_ = next;
}

Timeline::Timeline(const Geometry& geometry, bool track_producers)
    : locations_(geometry), track_(track_producers), written_(locations_.count() + 1) {
  if (track_) producers_.resize(written_.size());
}

void Timeline::reset() {
  std::fill(written_.begin(), written_.end(), Clock{0});
  local_latest_ = 0;
  now_ = origin;
}

void Timeline::seed(const std::vector<RecentWrite>& writes) {
  for (const RecentWrite& w : writes) {
    if (w.age >= result_latency || w.location >= written_.size()) continue;
    const Clock time = origin - w.age;
    if (written_[w.location] >= time) continue;
    written_[w.location] = time;
    if (track_) producers_[w.location] = w.producer;
    const bool local =
        w.location == locations_.whole_local_memory() || locations_.is_local(w.location);
    if (local && time > local_latest_) {
      local_latest_ = time;
      local_latest_location_ = w.location;
    }
  }
}

Timeline::Clock Timeline::last_write(const Access& access, unsigned element,
                                     std::uint32_t& location) const noexcept {
  if (locations_.covers_local_memory(access)) {
    location = local_latest_location_;
    return local_latest_;
  }
  Clock latest = 0;
  const auto [first, end] = locations_.range(access, element);
  for (std::uint32_t i = first; i < end; ++i) {
    if (written_[i] > latest) {
      latest = written_[i];
      location = i;
    }
  }
  if (access.what == Access::What::Local && written_.back() > latest) {
    latest = written_.back();
    location = locations_.whole_local_memory();
  }
  return latest;
}

InstructionPlace Timeline::producer_of(std::uint32_t location) const {
  return track_ ? producers_[location] : InstructionPlace{};
}

Stall Timeline::stall_of(const InstructionAccesses& accesses) const {
  Stall stall;
  for (unsigned k = 0; k < accesses.vlen; ++k) {
    const Clock clock = now_ + k * accesses.stride;
    for (const Access& access : accesses.lists[k]) {
      if (access.write) break;  // reads come first
      std::uint32_t location = 0;
      const Clock written = last_write(access, k, location);
      if (written + result_latency <= clock + stall.clocks || written == 0) continue;
      stall = {written + result_latency - clock, access, k, producer_of(location), 0};
    }
  }
  return stall;
}

void Timeline::issue(const InstructionAccesses& accesses, InstructionPlace producer) {
  for (unsigned k = 0; k < accesses.vlen; ++k) {
    for (const Access& access : accesses.lists[k]) {
      if (!access.write) continue;
      const Clock clock = now_ + accesses.clock_of(k, access);
      const auto [first, end] = locations_.range(access, k);
      for (std::uint32_t i = first; i < end; ++i) {
        written_[i] = clock;
        if (track_) producers_[i] = producer;
      }
      if (access.what == Access::What::Local && clock >= local_latest_) {
        local_latest_ = clock;
        local_latest_location_ = first;
      }
    }
  }
  now_ += accesses.clocks();
}

void SectionClock::add(const InstructionAccesses& accesses, Section section,
                       const Geometry& geometry, bool track_producers) {
  if (!timeline_) timeline_ = std::make_unique<Timeline>(geometry, track_producers);
  const Stall stall =
      timeline_->issue_early(accesses, {static_cast<std::uint8_t>(section), count_});
  if (stall.clocks != 0) pads_.push_back({count_, stall});
  ++count_;
}

SectionPads schedule(const Program& program, const Geometry& geometry, const SectionPads& linear,
                     bool body_is_stale, bool track_producers) {
  Scheduler scheduler(program, geometry, track_producers);
  SectionPads pads = linear;
  auto& [init, start, body, end] = pads;
  if (body_is_stale) body = scheduler.earliest(Section::Body, {});
  body = scheduler.close_loop(body);
  const auto after_init = scheduler.exit(Section::Init, init, {});
  const auto start_size = static_cast<std::uint32_t>(program.section(Section::Start).size());
  std::vector<RecentWrite> after_end;  // grows to a fixed point
  for (unsigned round = 0; round < 16; ++round) {
    const auto before_start = merged(after_init, after_end);
    start = scheduler.after(Section::Start, linear[static_cast<std::size_t>(Section::Start)],
                            before_start);
    auto after_start = scheduler.exit(Section::Start, start, before_start);
    if (const Stall stall = scheduler.remaining_stall(Section::Body, body, after_start);
        stall.clocks != 0) {
      start.push_back({start_size, stall});
      after_start = aged(std::move(after_start), stall.clocks);
    }
    const auto before_end = merged(after_start, scheduler.exit(Section::Body, body, after_start));
    end = scheduler.after(Section::End, linear[static_cast<std::size_t>(Section::End)], before_end);
    auto grown = merged(after_end, scheduler.exit(Section::End, end, before_end));
    if (grown == after_end) break;
    after_end = std::move(grown);
  }
  return pads;
}

void insert_pads(std::vector<Instruction>& section, std::vector<SourceLine>& lines,
                 const std::vector<Pad>& pads, SourceLine at_end) {
  if (pads.empty()) return;
  std::vector<Instruction> padded;
  std::vector<SourceLine> padded_lines;
  padded.reserve(section.size() + pads.size());
  padded_lines.reserve(section.size() + pads.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i <= section.size(); ++i) {
    for (; next < pads.size() && pads[next].index == i; ++next) {
      const SourceLine line = i < lines.size() ? lines[i] : at_end;
      for (unsigned clocks = pads[next].stall.clocks; clocks > 0;) {
        Instruction idle;
        idle.vlen = static_cast<std::uint8_t>(std::min(clocks, max_elements));
        clocks -= idle.vlen;
        padded.push_back(idle);
        padded_lines.push_back(line);
      }
    }
    if (i == section.size()) break;
    padded.push_back(section[i]);
    padded_lines.push_back(lines[i]);
  }
  section = std::move(padded);
  lines = std::move(padded_lines);
}

}  // namespace gdr::assembly
