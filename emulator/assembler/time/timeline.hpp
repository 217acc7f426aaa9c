// Last write of each location, which determines stalls of reads (contract, paragraph 5).
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/assembler/time/accesses.hpp"

namespace gdr::assembly {

/// Clocks from the issue of a writing element to the earliest issue of a reading one.
constexpr unsigned result_latency = 4;

/// Index of every short of every memory; an unbounded T-indirect write has an index of its own for
/// the whole local memory.
class LocationIndex {
 public:
  explicit LocationIndex(const Geometry& geometry) noexcept;
  std::uint32_t first(const Access& access, unsigned element) const noexcept {
    const auto what = static_cast<std::size_t>(access.what);
    if (access.what == Access::What::T) return base_[what] + element * 2 + access.address;
    if (access.what == Access::What::Mask) {
      return base_[what] + access.address * max_elements + element;
    }
    return base_[what] + access.address;
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
struct Writer {
  std::uint8_t section = 0;
  std::uint32_t index = 0;
  friend bool operator==(const Writer&, const Writer&) = default;
};

/// A recent write at the end of a section, `age` clocks before the end.
struct RecentWrite {
  std::uint32_t location = 0;
  std::uint32_t age = 0;
  Writer writer;
  friend bool operator==(const RecentWrite&, const RecentWrite&) = default;
};

/// Reason and length of a stall.
struct Stall {
  unsigned clocks = 0;
  Access read{};
  unsigned element = 0;
  Writer writer;
  std::uint32_t reader = 0;  ///< reading instruction of the body, for stalls at the end of Start
};

class Timeline {
 public:
  Timeline(const Geometry& geometry, bool track_writers);

  void reset();
  void seed(const std::vector<RecentWrite>& writes);
  std::uint64_t now() const noexcept { return now_ - origin; }

  /// Stall of an instruction if it is to issue now.
  Stall stall_of(const InstructionAccesses& accesses) const;
  void advance(unsigned clocks) noexcept { now_ += clocks; }
  /// Issue an instruction and advance to its end.
  void issue(const InstructionAccesses& accesses, Writer writer);

  const LocationIndex& locations() const noexcept { return locations_; }

 private:
  using Clock = std::uint32_t;
  static constexpr Clock origin = 16;  ///< time 0 of the section; earlier writes have smaller times

  Clock last_write(const Access& access, unsigned element, std::uint32_t& location) const noexcept;
  Writer writer_of(std::uint32_t location) const;

  LocationIndex locations_;
  bool track_;
  Clock now_ = origin;
  std::vector<Clock> written_;  ///< by location; 0: never
  Clock local_latest_ = 0;      ///< last write to local memory
  std::uint32_t local_latest_location_ = 0;
  std::vector<Writer> writers_;  ///< by location, if tracked
};

}  // namespace gdr::assembly
