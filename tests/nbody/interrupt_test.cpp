// Signals that are remembered, and the old handling that comes back.
#include "libgdr/nbody/interrupt.hpp"

#include <unistd.h>

#include "support/catch.hpp"

namespace gdr::test {
namespace {

TEST_CASE("a signal is remembered while a guard lives") {
  struct sigaction before {
  }, after{};
  ::sigaction(SIGTERM, nullptr, &before);
  {
    const InterruptGuard guard;
    CHECK(InterruptGuard::received() == 0);
    ::raise(SIGTERM);
    CHECK(InterruptGuard::received() == SIGTERM);
    struct sigaction now {};
    ::sigaction(SIGTERM, nullptr, &now);
    CHECK(now.sa_handler == SIG_DFL);  // a second one ends the process
  }
  ::sigaction(SIGTERM, nullptr, &after);
  CHECK(after.sa_handler == before.sa_handler);
  const InterruptGuard next;
  CHECK(InterruptGuard::received() == 0);
}

TEST_CASE("a lost terminal is remembered like a signal to end") {
  const InterruptGuard guard;
  ::raise(SIGHUP);
  CHECK(InterruptGuard::received() == SIGHUP);
}

TEST_CASE("a signal that was ignored stays ignored") {
  void (*const old)(int) = std::signal(SIGINT, SIG_IGN);
  {
    const InterruptGuard guard;
    ::raise(SIGINT);
    CHECK(InterruptGuard::received() == 0);
  }
  std::signal(SIGINT, old);
}

}  // namespace
}  // namespace gdr::test
