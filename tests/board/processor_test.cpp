// Threads that leave the processor of another one.
#include "emulator/host/processor.hpp"

#include <pthread.h>
#include <sched.h>

#include <cstddef>
#include <thread>

#include "support/catch.hpp"

namespace gdr::test {
namespace {

cpu_set_t allowed() {
  cpu_set_t set;
  REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0);
  return set;
}

void allow(const cpu_set_t& set) {
  REQUIRE(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0);
}

}  // namespace

TEST_CASE("a thread leaves the processor of its caller, and may return") {
  std::thread([] {
    const cpu_set_t before = allowed();
    if (CPU_COUNT(&before) < 2) return;
    // The scheduler may move the thread at any time: one of many attempts shows the effect.
    bool moved = false;
    for (unsigned k = 0; k < 100 && !moved; ++k) {
      const int processor = current_processor();
      leave_processor(processor);
      moved = current_processor() != processor;
    }
    CHECK(moved);
    const cpu_set_t after = allowed();
    CHECK(CPU_EQUAL(&before, &after));
  }).join();
}

TEST_CASE("a thread stays on its processor if it may not run on another") {
  std::thread([] {
    const int processor = current_processor();
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(processor), &only);
    allow(only);
    leave_processor(processor);
    CHECK(current_processor() == processor);
    const cpu_set_t after = allowed();
    CHECK(CPU_EQUAL(&only, &after));
  }).join();
}

TEST_CASE("a thread stays where it is if another processor is to be left") {
  std::thread([] {
    const cpu_set_t before = allowed();
    leave_processor(-1);
    leave_processor(1 << 20);
    const cpu_set_t after = allowed();
    CHECK(CPU_EQUAL(&before, &after));
  }).join();
}

}  // namespace gdr::test
