// Busy waiting: a thread that polls notices an event within a microsecond, one that sleeps is woken
// in 5 to 50 us. Polling needs a core of its own; where other threads want the core, it stops.
#pragma once

#include <chrono>

namespace gdr::driver {

/// How long a board and its driver poll each other in shared memory, unless the user says
/// otherwise.
constexpr double board_poll_seconds = 50e-6;

/// The polling of a thread. After begin() the thread tests for its event and calls goes_on() in
/// turn, until the event is there or goes_on() returns false; then it sleeps.
class Polling {
 public:
  using Clock = std::chrono::steady_clock;

  /// Polls for `seconds` at most each time; 0: never.
  explicit Polling(double seconds) noexcept
      : limit_(
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  /// False if the thread should sleep at once.
  bool begin() noexcept { return limit_ > Clock::duration::zero() && begin_at(Clock::now()); }
  bool goes_on() noexcept { return goes_on_at(Clock::now()); }

  /// The same at a given time, for tests.
  bool begin_at(Clock::time_point now) noexcept {
    if (now < resume_) return false;
    begin_ = last_ = now;
    return limit_ > Clock::duration::zero();
  }
  bool goes_on_at(Clock::time_point now) noexcept {
    // Between two tests another thread has run on this core.
    if (const Clock::duration gap = now - last_; gap >= preempted) {
      resume_ = now + pause * gap;
      return false;
    }
    last_ = now;
    return now - begin_ < limit_;
  }

 private:
  /// Tests take below a microsecond, interrupts some; a time slice takes milliseconds.
  static constexpr std::chrono::microseconds preempted{100};
  /// Time without polling after another thread had the core, in units of that thread's time.
  static constexpr int pause = 4;

  Clock::duration limit_;
  Clock::time_point begin_{}, last_{}, resume_{};
};

}  // namespace gdr::driver
