#include "emulator/assembler/time/schedule.hpp"

#include <algorithm>

namespace gdr::assembly {
namespace {

unsigned total(const std::vector<Pad>& pads) noexcept {
  unsigned sum = 0;
  for (const Pad& pad : pads) sum += pad.wait.clocks;
  return sum;
}

/// Writes younger than the latency, seen from a later clock.
std::vector<RecentWrite> aged(std::vector<RecentWrite> writes, unsigned clocks) {
  for (RecentWrite& w : writes) w.age += clocks;
  std::erase_if(writes, [](const RecentWrite& w) { return w.age >= result_latency; });
  return writes;
}

/// Both sets; of two writes to one place the younger.
std::vector<RecentWrite> merged(std::vector<RecentWrite> a, const std::vector<RecentWrite>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end(), [](const RecentWrite& x, const RecentWrite& y) {
    return x.place != y.place ? x.place < y.place : x.age < y.age;
  });
  const auto same = [](const RecentWrite& x, const RecentWrite& y) { return x.place == y.place; };
  a.erase(std::unique(a.begin(), a.end(), same), a.end());
  return a;
}

class Scheduler {
 public:
  Scheduler(const Program& program, const Geometry& geometry, bool track)
      : program_(program), geometry_(geometry), timeline_(geometry, track) {}

  /// One pass: every instruction as early as it may be after `entry`.
  std::vector<Pad> earliest(Section s, const std::vector<RecentWrite>& entry) {
    const auto& section = program_.section(s);
    std::vector<Pad> pads;
    timeline_.reset();
    timeline_.seed(entry);
    for (std::uint32_t i = 0; i < section.size(); ++i) {
      accesses_.collect(section[i], geometry_);
      const Wait wait = timeline_.wait_of(accesses_);
      if (wait.clocks != 0) {
        pads.push_back({i, wait});
        timeline_.advance(wait.clocks);
      }
      timeline_.issue(accesses_, {static_cast<std::uint8_t>(s), i});
    }
    return pads;
  }

  /// The longest wait that a section, with its pads, would still need after `entry`. Only what
  /// issues in its first clocks can be concerned.
  Wait missing(Section s, const std::vector<Pad>& pads, const std::vector<RecentWrite>& entry) {
    const auto& section = program_.section(s);
    Wait worst;
    if (entry.empty()) return worst;
    timeline_.reset();
    timeline_.seed(entry);
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < section.size() && timeline_.now() < result_latency; ++i) {
      for (; next < pads.size() && pads[next].index == i; ++next)
        timeline_.advance(pads[next].wait.clocks);
      accesses_.collect(section[i], geometry_);
      const Wait wait = timeline_.wait_of(accesses_);
      if (wait.clocks > worst.clocks) {
        worst = wait;
        worst.reader = i;
      }
      timeline_.issue(accesses_, {static_cast<std::uint8_t>(s), i});
    }
    return worst;
  }
  /// What is too recent at the end of a section; `entry` shows through a short one.
  std::vector<RecentWrite> exit(Section s, const std::vector<Pad>& pads,
                                const std::vector<RecentWrite>& entry) {
    const auto& section = program_.section(s);
    std::vector<RecentWrite> writes;
    unsigned to_end = 0;
    std::size_t pad = pads.size();
    const auto n = static_cast<std::uint32_t>(section.size());
    for (std::uint32_t i = n; to_end < result_latency + 2 * max_elements; --i) {
      for (; pad > 0 && pads[pad - 1].index == i; --pad) to_end += pads[pad - 1].wait.clocks;
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

  /// Waits of the body so that it can follow itself, with the shortest possible body: for a given
  /// length the earliest schedule is found by letting the pads grow until nothing moves; the least
  /// length for which that schedule fits is the answer.
  std::vector<Pad> close_loop(const std::vector<Pad>& linear) {
    const unsigned least = total(linear);
    for (unsigned target = least; target <= least + 2 * result_latency; ++target) {
      std::vector<Pad> pads = linear;
      for (unsigned round = 0; round < 64 && total(pads) <= target; ++round) {
        const auto entry = aged(exit(Section::Body, pads, {}), target - total(pads));
        if (missing(Section::Body, pads, entry).clocks == 0) return spread(std::move(pads), target);
        pads = earliest(Section::Body, entry);
      }
    }
    return linear;  // not reached: latency idle clocks more always close the loop
  }

 private:
  /// `pads` fit a body with `target` idle clocks; put those that are left before the readers that
  /// need them, or, if that does not come out even, before the first instruction.
  std::vector<Pad> spread(std::vector<Pad> pads, unsigned target) {
    const unsigned left = target - total(pads);
    if (left == 0) return pads;
    const auto entry = exit(Section::Body, pads, {});
    std::vector<Pad> placed = earliest(Section::Body, entry);
    if (total(placed) == target &&
        missing(Section::Body, placed, exit(Section::Body, placed, {})).clocks == 0) {
      return placed;
    }
    Wait wait = missing(Section::Body, pads, entry);
    wait.clocks = left;
    pads.insert(pads.begin(), {0, wait});
    return pads;
  }

  void add_writes(std::vector<RecentWrite>& writes, unsigned issued_before_end, Writer writer) {
    const Places& places = timeline_.places();
    for (unsigned k = 0; k < accesses_.vlen; ++k) {
      for (const Access& access : accesses_.lists[k]) {
        if (!access.write) continue;
        const unsigned age = issued_before_end - accesses_.clock_of(k, access);
        if (age >= result_latency) continue;
        // What an item of the stream holds is another place in the next iteration.
        if (access.what == Access::What::BmSource || access.what == Access::What::BmOutput)
          continue;
        if (places.whole_local(access)) {
          writes.push_back({places.everything_local(), age, writer});
          continue;
        }
        const std::uint32_t first = places.first(access, k);
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
  std::vector<RecentWrite> after_end;  // grows until nothing new comes round
  for (unsigned round = 0; round < 16; ++round) {
    const auto before_start = merged(after_init, after_end);
    start = linear[static_cast<std::size_t>(Section::Start)];
    if (scheduler.missing(Section::Start, start, before_start).clocks != 0) {
      start = scheduler.earliest(Section::Start, before_start);
    }
    auto after_start = scheduler.exit(Section::Start, start, before_start);
    if (const Wait wait = scheduler.missing(Section::Body, body, after_start); wait.clocks != 0) {
      start.push_back({start_size, wait});
      after_start = aged(std::move(after_start), wait.clocks);
    }
    const auto before_end = merged(after_start, scheduler.exit(Section::Body, body, after_start));
    end = linear[static_cast<std::size_t>(Section::End)];
    if (scheduler.missing(Section::End, end, before_end).clocks != 0) {
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
      for (unsigned clocks = pads[next].wait.clocks; clocks > 0;) {
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
