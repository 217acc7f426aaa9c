// The work of command lists, and the timeouts of the driver that follow from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/board/time_model.hpp"

namespace gdr::driver {

/// The timing of a program in an object file; zeros for an object that the board rejects.
ProgramTiming object_timing(std::span<const std::uint64_t> payload, std::uint64_t bytes,
                            const Geometry& geometry);

/// The program on each chip of a board.
struct ChipPrograms {
  std::vector<ProgramTiming> chips;

  /// The program on the first chip that a command names; zeros if there is no such chip.
  const ProgramTiming& of(const Command& command) const noexcept;
  /// Records the program that a LoadProgram command loads into its chips.
  void load(const Command& command, const ProgramTiming& program);
};

/// The work of a list, as far as its commands determine it.
struct ListWork {
  std::uint64_t bytes = 0;       ///< transferred to the board and back
  double lane_clocks = 0;        ///< clocks of runs times PEs of the board
  double block_lane_clocks = 0;  ///< clocks of runs times PEs, of the block with most work

  /// Adds the PE clocks of a run; other commands add nothing.
  void add(const Command& command, const ProgramTiming& program, const Geometry& geometry) noexcept;
};

/// Limits after which a board that executes lists is marked as failed.
struct TimeoutPolicy {
  double heartbeat_seconds = 0;  ///< maximum time between heartbeats
  double total_seconds = 0;      ///< maximum total time, with or without heartbeats

  /// The policy for both lists in flight, in any order.
  friend TimeoutPolicy operator+(const TimeoutPolicy& a, const TimeoutPolicy& b) noexcept {
    return {std::max(a.heartbeat_seconds, b.heartbeat_seconds), a.total_seconds + b.total_seconds};
  }
};

/// `timeout_seconds` is the user's heartbeat timeout. 0 derives it from the work: 5 seconds, plus
/// the time to copy its bytes at 20 MB/s and to execute a block at 0.2 microseconds per PE and
/// clock, at most 60 seconds. Memory and the vector engine are about a hundred times faster, so
/// other load on the host does not fail a board. The total limit is ten times as long, plus 20
/// microseconds per PE and clock.
TimeoutPolicy timeout_policy(double timeout_seconds, const ListWork& work) noexcept;

/// Timeout of a board without work, for example of a reset, in seconds.
double response_timeout(double timeout_seconds) noexcept;

}  // namespace gdr::driver
