// Adaptive choice between one thread and several for short work.
#include "emulator/host/thread_choice.hpp"

#include <functional>

#include "support/catch.hpp"

namespace gdr::test {
namespace {

constexpr double units = 1000, microsecond = 1000;

/// Simulates calls whose time is `ns` of the number of threads and of the number of consecutive
/// calls with it. Returns the fraction of calls with two threads in the second half.
double two_threads(ThreadChoice& choice, unsigned calls,
                   const std::function<double(unsigned threads, unsigned in_a_row)>& ns) {
  unsigned twice = 0, in_a_row = 0, before = 0;
  for (unsigned k = 0; k < calls; ++k) {
    const unsigned threads = choice.choose(units, 0, 2);
    in_a_row = threads == before ? in_a_row + 1 : 0;
    before = threads;
    choice.record(units, threads, ns(threads, in_a_row));
    if (2 * k >= calls && threads == 2) ++twice;
  }
  return 2.0 * twice / calls;
}

}  // namespace

TEST_CASE("work runs on several threads where they are faster, including their wake-up") {
  ThreadChoice choice(100);
  CHECK(two_threads(choice, 2000, [](unsigned threads, unsigned in_a_row) {
          if (threads == 1) return 100 * microsecond;
          return (in_a_row < 2 ? 150 : 60) * microsecond;
        }) > 0.95);
}

TEST_CASE("short work runs on several threads although one that slept begins after many calls") {
  ThreadChoice choice(100);
  CHECK(two_threads(choice, 20000, [](unsigned threads, unsigned in_a_row) {
          const bool asleep = in_a_row < 12;
          return (threads == 1 ? 25 : asleep ? 26 : 14) * microsecond;
        }) > 0.95);
}

TEST_CASE(
    "work runs on one thread while another program occupies the other core, and on two "
    "afterwards") {
  ThreadChoice choice(100);
  const auto beside = [](unsigned threads, unsigned in_a_row) {
    if (threads == 1) return 100 * microsecond;
    return (in_a_row % 4 == 0 ? 60 : 3000) * microsecond;
  };
  const auto alone = [](unsigned threads, unsigned) {
    return (threads == 1 ? 100 : 60) * microsecond;
  };
  CHECK(two_threads(choice, 4000, beside) < 0.05);
  CHECK(two_threads(choice, 4000, alone) > 0.9);
  CHECK(two_threads(choice, 4000, beside) < 0.05);
}

TEST_CASE("short input of work is prepared by as many threads as the work has") {
  constexpr double short_ns = 5 * microsecond, long_ns = 1000 * microsecond;
  const auto after_choice_of = [](unsigned most) {
    ThreadChoice(100).choose(units, 0, most);
    return threads_for_input(short_ns, 4);
  };
  CHECK(after_choice_of(1) == 1);
  CHECK(after_choice_of(2) == 2);
  CHECK(threads_for_input(short_ns, 1) == 1);
  CHECK(threads_for_input(100, 4) == 1);
  CHECK(after_choice_of(1) == 1);
  CHECK(threads_for_input(long_ns, 4) == 4);
}

TEST_CASE("a single slow call does not change the number of threads") {
  ThreadChoice choice(100);
  unsigned calls = 0;
  CHECK(two_threads(choice, 4000, [&](unsigned threads, unsigned) {
          if (++calls % 10 == 0) return 4000 * microsecond;
          return (threads == 1 ? 100 : 60) * microsecond;
        }) > 0.9);
}

TEST_CASE("short work runs on one thread, and long work on all") {
  ThreadChoice little(10), fetched(60), longer(1e5);
  for (unsigned k = 0; k < 100; ++k) {
    CHECK(little.choose(units, 0, 2) == 1);
    little.record(units, 1, 10 * microsecond);
    CHECK(fetched.choose(units, 50 * microsecond, 2) == 1);
    fetched.record(units, 1, 60 * microsecond);
    CHECK(longer.choose(units, 0, 2) == 2);
    longer.record(units, 2, 1e8);
    CHECK(longer.choose(units, 0, 1) == 1);
  }
}

}  // namespace gdr::test
