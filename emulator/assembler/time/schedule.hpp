// Insertion of idle clocks: every read is safe on all paths through the sections, with minimum
// stalls. The last write of each location determines the stalls (contract, paragraph 5).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/isa/ports.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::assembly {

/// Clocks from the issue of a writing element to the earliest issue of a reading one.
constexpr unsigned result_latency = 4;

/// Accesses of an instruction by element, in reusable buffers.
struct InstructionAccesses {
  std::array<std::vector<Access>, max_elements> lists;
  unsigned vlen = 0;
  unsigned stride = 1;

  void collect(const Instruction& instruction, const Geometry& geometry) {
    vlen = instruction.vlen;
    stride = instruction.stride();
    for (unsigned k = 0; k < vlen; ++k) accesses_of_element(instruction, k, geometry, lists[k]);
  }
  unsigned clocks() const noexcept { return vlen * stride; }
  /// Clock of an access relative to the issue of element 0: a result of a dmul belongs to the
  /// second of its element's clocks, all other accesses to the first.
  unsigned clock_of(unsigned element, const Access& access) const noexcept {
    return element * stride + (access.write && access.slot == 0 ? stride - 1 : 0);
  }
};

/// Index of every short of every memory; an unbounded T-indirect write has an index of its own for
/// the whole local memory.
class LocationIndex {
 public:
  explicit LocationIndex(const Geometry& geometry) noexcept;
  /// Indices of an access of an element, from `first` to before `end`.
  struct Range {
    std::uint32_t first, end;
  };
  Range range(const Access& access, unsigned element) const noexcept {
    if (covers_local_memory(access)) return {count_, count_ + 1};
    std::uint32_t first = base_[static_cast<std::size_t>(access.what)] + access.address;
    if (access.what == Access::What::T) first += element * 2;
    if (access.what == Access::What::Mask) first += access.address * (max_elements - 1) + element;
    return {first, std::min(first + access.shorts, count_)};
  }
  bool covers_local_memory(const Access& access) const noexcept {
    return access.what == Access::What::Local && access.shorts == local_shorts_;
  }
  bool is_local(std::uint32_t location) const noexcept {
    return location - base_[1] < local_shorts_;
  }
  std::uint32_t count() const noexcept { return count_; }
  std::uint32_t whole_local_memory() const noexcept { return count_; }

 private:
  std::array<std::uint32_t, 7> base_{};
  std::uint32_t local_shorts_;
  std::uint32_t count_;
};

/// Section and index of an instruction.
struct InstructionPlace {
  std::uint8_t section = 0;
  std::uint32_t index = 0;
  friend bool operator==(const InstructionPlace&, const InstructionPlace&) = default;
};

/// A recent write at the end of a section, `age` clocks before the end.
struct RecentWrite {
  std::uint32_t location = 0;
  std::uint32_t age = 0;
  InstructionPlace producer;  ///< writing instruction, if tracked
  friend bool operator==(const RecentWrite&, const RecentWrite&) = default;
};

/// Reason and length of a stall.
struct Stall {
  unsigned clocks = 0;
  Access read{};
  unsigned element = 0;
  InstructionPlace producer;  ///< instruction that writes what is read, if tracked
  std::uint32_t reader = 0;   ///< reading instruction of the body, for stalls at the end of Start
};

class Timeline {
 public:
  Timeline(const Geometry& geometry, bool track_producers);

  void reset();
  void seed(const std::vector<RecentWrite>& writes);
  std::uint64_t now() const noexcept { return now_ - origin; }

  /// Issue an instruction as early as possible; returns its stall.
  Stall issue_early(const InstructionAccesses& accesses, InstructionPlace producer) {
    const Stall stall = stall_of(accesses);
    advance(stall.clocks);
    issue(accesses, producer);
    return stall;
  }
  /// Stall of an instruction if it is to issue now.
  Stall stall_of(const InstructionAccesses& accesses) const;
  void advance(unsigned clocks) noexcept { now_ += clocks; }
  /// Issue an instruction and advance to its end.
  void issue(const InstructionAccesses& accesses, InstructionPlace producer);

  const LocationIndex& locations() const noexcept { return locations_; }

 private:
  using Clock = std::uint32_t;
  static constexpr Clock origin = 16;  ///< time 0 of the section; earlier writes have smaller times

  Clock last_write(const Access& access, unsigned element, std::uint32_t& location) const noexcept;
  InstructionPlace producer_of(std::uint32_t location) const;

  LocationIndex locations_;
  bool track_;
  Clock now_ = origin;
  std::vector<Clock> written_;  ///< clock of the last write, by location; 0: never
  Clock local_latest_ = 0;      ///< last write to local memory
  std::uint32_t local_latest_location_ = 0;
  std::vector<InstructionPlace>
      producers_;  ///< producers of the last writes by location, if tracked
};

/// Idle clocks before an instruction (by index without idle clocks; the number of instructions
/// denotes the end of the section), and their reason.
struct Pad {
  std::uint32_t index = 0;
  Stall stall;
};

/// Stalls of a section for its own writes, determined during parsing.
class SectionClock {
 public:
  void add(const InstructionAccesses& accesses, Section section, const Geometry& geometry,
           bool track_producers);
  /// An invalid instruction: later ones do not depend on earlier ones.
  void gap() {
    if (timeline_) timeline_->advance(2 * result_latency);
  }
  const std::vector<Pad>& pads() const noexcept { return pads_; }

 private:
  std::unique_ptr<Timeline> timeline_;
  std::vector<Pad> pads_;
  std::uint32_t count_ = 0;
};

/// Stalls of all sections. `linear` holds the stalls of each section for its own writes, where
/// every instruction is issued once.
///
/// Paths: Init, then repeatedly Start, Body (any number of times), End. The body stalls only for
/// its own writes of this or the previous iteration; stalls for writes of Start are inserted once,
/// at the end of Start.
using SectionPads = std::array<std::vector<Pad>, section_count>;
SectionPads schedule(const Program& program, const Geometry& geometry, const SectionPads& linear,
                     bool body_is_stale, bool track_producers);

/// Insert idle clocks as nop instructions into a section and its line table; `at_end` is the source
/// line of those after the last instruction.
void insert_pads(std::vector<Instruction>& section, std::vector<SourceLine>& lines,
                 const std::vector<Pad>& pads, SourceLine at_end);

}  // namespace gdr::assembly
