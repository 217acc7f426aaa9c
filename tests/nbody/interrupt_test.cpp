// Recorded signals, and restoration of the previous handlers.
#include <unistd.h>

#include "libgdr/nbody/run.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

TEST_CASE("a guard records a signal") {
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
    CHECK(now.sa_handler == SIG_DFL);  // a second signal terminates the process
  }
  ::sigaction(SIGTERM, nullptr, &after);
  CHECK(after.sa_handler == before.sa_handler);
  const InterruptGuard next;
  CHECK(InterruptGuard::received() == 0);
}

TEST_CASE("a guard records SIGHUP") {
  const InterruptGuard guard;
  ::raise(SIGHUP);
  CHECK(InterruptGuard::received() == SIGHUP);
}

TEST_CASE("an ignored signal stays ignored") {
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
