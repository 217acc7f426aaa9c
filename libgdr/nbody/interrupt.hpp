// Ctrl-C, kill and a lost terminal as a wish to stop at the next good place, not as an end in the
// middle.
#pragma once

#include <csignal>

namespace gdr {

/// While it lives, SIGINT, SIGTERM and SIGHUP are remembered instead of ending the process. A
/// second one of the same kind ends it at once, as usual. Only one may live at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that came, or 0.
  static int received() noexcept;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_hang_up_ {};
};

}  // namespace gdr
