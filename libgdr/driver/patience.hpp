// How long a driver waits: what follows from the work that a list brings, within bounds.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gdr::driver {

/// What makes a list long, as far as its commands tell.
struct ListWork {
  std::uint64_t bytes = 0;       ///< to the board and back
  double lane_clocks = 0;        ///< of runs: clocks times the PEs of the board
  double block_lane_clocks = 0;  ///< of the block that has most to do
};

/// When a board is given up that has a list.
struct Patience {
  double quiet_seconds = 0;  ///< without a sign of life
  double whole_seconds = 0;  ///< altogether, signs of life or not

  /// With two lists, of which any may be in work.
  friend Patience operator+(const Patience& a, const Patience& b) noexcept {
    return {std::max(a.quiet_seconds, b.quiet_seconds), a.whole_seconds + b.whole_seconds};
  }
};

/// `timeout_seconds` is what the user gave for the time without a sign of life; 0: nothing, and it
/// follows from the work: 5 seconds, and what copying its bytes at 20 MB/s and working on a block
/// at 0.2 microseconds a PE and clock take, 60 seconds at most. Memory and the vector
/// engine need some hundred times less, so that a host with other things to do is no fault of the
/// board. The whole may take ten times as long, and 20 microseconds a PE and clock.
Patience patience(double timeout_seconds, const ListWork& work) noexcept;

/// For a board that has nothing to do but to answer.
double longest_silence(double timeout_seconds) noexcept;

}  // namespace gdr::driver
