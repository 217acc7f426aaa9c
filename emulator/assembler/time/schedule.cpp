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
  const auto same = [](const RecentWrite& x, const RecentWrite& y) {
    return x.location == y.location;
  };
  a.erase(std::unique(a.begin(), a.end(), same), a.end());
  return a;
}

class Scheduler {
 public:
  Scheduler(const Program& program, const Geometry& geometry, bool track)
      : program_(program), geometry_(geometry), timeline_(geometry, track) {}

  /// One pass: issue every instruction as early as possible after `entry`.
  std::vector<Pad> earliest(Section s, const std::vector<RecentWrite>& entry) {
    const auto& section = program_.section(s);
    std::vector<Pad> pads;
    timeline_.reset();
    timeline_.seed(entry);
    for (std::uint32_t i = 0; i < section.size(); ++i) {
      accesses_.collect(section[i], geometry_);
      const Stall stall = timeline_.stall_of(accesses_);
      if (stall.clocks != 0) {
        pads.push_back({i, stall});
        timeline_.advance(stall.clocks);
      }
      timeline_.issue(accesses_, {static_cast<std::uint8_t>(s), i});
    }
    return pads;
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

  void add_writes(std::vector<RecentWrite>& writes, unsigned issued_before_end, Writer writer) {
    const LocationIndex& locations = timeline_.locations();
    for (unsigned k = 0; k < accesses_.vlen; ++k) {
      for (const Access& access : accesses_.lists[k]) {
        if (!access.write) continue;
        const unsigned age = issued_before_end - accesses_.clock_of(k, access);
        if (age >= result_latency) continue;
        // In the next iteration a stream item is a different location.
        if (access.what == Access::What::BmSource || access.what == Access::What::BmOutput)
          continue;
        if (locations.covers_local_memory(access)) {
          writes.push_back({locations.whole_local_memory(), age, writer});
          continue;
        }
        const std::uint32_t first = locations.first(access, k);
        for (std::uint32_t i = 0; i < access.shorts; ++i)
          writes.push_back({first + i, age, writer});
      }
    }
  }

  const Program& program_;
  const Geometry& geometry_;
  Timeline timeline_;
  InstructionAccesses accesses_;
};

}  // namespace

SectionPads schedule(const Program& program, const Geometry& geometry, const SectionPads& linear,
                     bool body_is_stale, bool track_writers) {
  Scheduler scheduler(program, geometry, track_writers);
  SectionPads pads = linear;
  auto& init = pads[static_cast<std::size_t>(Section::Init)];
  auto& start = pads[static_cast<std::size_t>(Section::Start)];
  auto& body = pads[static_cast<std::size_t>(Section::Body)];
  auto& end = pads[static_cast<std::size_t>(Section::End)];
  if (body_is_stale) body = scheduler.earliest(Section::Body, {});
  body = scheduler.close_loop(body);
  const auto after_init = scheduler.exit(Section::Init, init, {});
  const auto start_size = static_cast<std::uint32_t>(program.section(Section::Start).size());
  std::vector<RecentWrite> after_end;  // grows to a fixed point
  for (unsigned round = 0; round < 16; ++round) {
    const auto before_start = merged(after_init, after_end);
    start = linear[static_cast<std::size_t>(Section::Start)];
    if (scheduler.remaining_stall(Section::Start, start, before_start).clocks != 0) {
      start = scheduler.earliest(Section::Start, before_start);
    }
    auto after_start = scheduler.exit(Section::Start, start, before_start);
    if (const Stall stall = scheduler.remaining_stall(Section::Body, body, after_start);
        stall.clocks != 0) {
      start.push_back({start_size, stall});
      after_start = aged(std::move(after_start), stall.clocks);
    }
    const auto before_end = merged(after_start, scheduler.exit(Section::Body, body, after_start));
    end = linear[static_cast<std::size_t>(Section::End)];
    if (scheduler.remaining_stall(Section::End, end, before_end).clocks != 0) {
      end = scheduler.earliest(Section::End, before_end);
    }
    auto grown = merged(after_end, scheduler.exit(Section::End, end, before_end));
    if (grown == after_end) break;
    after_end = std::move(grown);
  }
  return pads;
}

void insert_pads(std::vector<Instruction>& section, std::vector<SourceLine>& lines,
                 const std::vector<Pad>& pads, const std::vector<SourceLine>& at_end) {
  if (pads.empty()) return;
  std::vector<Instruction> padded;
  std::vector<SourceLine> padded_lines;
  padded.reserve(section.size() + pads.size());
  padded_lines.reserve(section.size() + pads.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i <= section.size(); ++i) {
    for (; next < pads.size() && pads[next].index == i; ++next) {
      const SourceLine line = i < lines.size() ? lines[i]
                              : at_end.empty() ? SourceLine{}
                                               : at_end.front();
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
