// Handling of SIGINT, SIGTERM and SIGHUP: a run stops after the current step.
#pragma once

#include <csignal>

namespace gdr {

/// During its lifetime SIGINT, SIGTERM and SIGHUP are recorded and do not terminate the process. A
/// second signal of the same kind terminates it. Only one guard may exist at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The last signal received, or 0.
  static int received() noexcept;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_hang_up_ {};
};

}  // namespace gdr
