// Ctrl-C and kill as a wish to stop at the next good place, not as an end in the middle.
#include "libgdr/nbody/interrupt.hpp"

namespace gdr {
namespace {

volatile std::sig_atomic_t signal_received = 0;

extern "C" void remember_signal(int number) { signal_received = number; }

/// Handle a signal unless it is ignored, as nohup and background jobs of a script have it.
void install(int number, struct sigaction& old) {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  // The second signal finds the usual handling; interrupted system calls go on.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, nullptr, &old);
  if (old.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_received = 0;
  install(SIGINT, old_interrupt_);
  install(SIGTERM, old_terminate_);
  install(SIGHUP, old_hang_up_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  ::sigaction(SIGHUP, &old_hang_up_, nullptr);
}

int InterruptGuard::received() noexcept { return signal_received; }

}  // namespace gdr
