// When each location was last written, and so how long a read has to wait (contract, paragraph 5).
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/assembler/time/accesses.hpp"

namespace gdr::assembly {

/// A result can be read by an element that issues this many clocks after its writer, or more.
constexpr unsigned result_latency = 4;

/// Every short of every memory has a number; the whole local memory, as an unbounded T-indirect
/// write touches it, has one of its own.
class Places {
 public:
  explicit Places(const Geometry& geometry) noexcept;
  std::uint32_t first(const Access& access, unsigned element) const noexcept {
    const auto what = static_cast<std::size_t>(access.what);
    if (access.what == Access::What::T) return base_[what] + element * 2 + access.address;
    if (access.what == Access::What::Mask) {
      return base_[what] + access.address * max_elements + element;
    }
    return base_[what] + access.address;
  }
  bool whole_local(const Access& access) const noexcept {
    return access.what == Access::What::Local && access.shorts == local_shorts_;
  }
  bool is_local(std::uint32_t place) const noexcept { return place - base_[1] < local_shorts_; }
  std::uint32_t count() const noexcept { return count_; }
  std::uint32_t everything_local() const noexcept { return count_; }

 private:
  std::array<std::uint32_t, 7> base_{};
  std::uint32_t local_shorts_;
  std::uint32_t count_;
};

/// Identifies an instruction: section and index there.
struct Writer {
  std::uint8_t section = 0;
  std::uint32_t index = 0;
  friend bool operator==(const Writer&, const Writer&) = default;
};

/// A write that is too recent at the end of a section: `age` clocks lie between it and the end.
struct RecentWrite {
  std::uint32_t place = 0;
  std::uint32_t age = 0;
  Writer writer;
  friend bool operator==(const RecentWrite&, const RecentWrite&) = default;
};

/// Why an instruction has to wait.
struct Wait {
  unsigned clocks = 0;
  Access read{};
  unsigned element = 0;
  Writer writer;
  std::uint32_t reader = 0;  ///< waits at the end of Start: which instruction of the body reads
};

class Timeline {
 public:
  Timeline(const Geometry& geometry, bool track_writers);

  void reset();
  void seed(const std::vector<RecentWrite>& writes);
  std::uint64_t now() const noexcept { return now_ - origin; }

  /// How long an instruction has to wait if it is to issue now.
  Wait wait_of(const InstructionAccesses& accesses) const;
  void advance(unsigned clocks) noexcept { now_ += clocks; }
  /// Let it issue now; time goes on to its end.
  void issue(const InstructionAccesses& accesses, Writer writer);

  const Places& places() const noexcept { return places_; }

 private:
  using Clock = std::uint32_t;
  static constexpr Clock origin = 16;  ///< time 0 of the section; earlier writes have room below

  Clock last_write(const Access& access, unsigned element, std::uint32_t& place) const noexcept;
  Writer writer_of(std::uint32_t place) const;

  Places places_;
  bool track_;
  Clock now_ = origin;
  std::vector<Clock> written_;  ///< by place; 0: never
  Clock local_latest_ = 0;      ///< of any write to local memory
  std::uint32_t local_latest_place_ = 0;
  std::vector<Writer> writers_;  ///< by place, where tracked
};

}  // namespace gdr::assembly
