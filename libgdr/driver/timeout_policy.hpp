// Timeouts of the driver, computed from the work of the lists in flight.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gdr::driver {

/// The work of a list, as far as its commands determine it.
struct ListWork {
  std::uint64_t bytes = 0;       ///< transferred to the board and back
  double lane_clocks = 0;        ///< clocks of runs times PEs of the board
  double block_lane_clocks = 0;  ///< clocks of runs times PEs, of the block with most work
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
