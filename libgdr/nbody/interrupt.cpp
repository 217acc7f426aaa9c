#include "libgdr/nbody/interrupt.hpp"

namespace gdr {
namespace {

volatile std::sig_atomic_t signal_received = 0;

extern "C" void record_signal(int number) { signal_received = number; }

/// Handles a signal unless it is ignored, as with nohup and in background jobs of a script.
void install(int number, struct sigaction& old) {
  struct sigaction action {};
  action.sa_handler = record_signal;
  // A second signal has the default action; interrupted system calls are restarted.
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
