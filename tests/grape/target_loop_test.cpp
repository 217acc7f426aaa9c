// Loops over the targets of the GRAPE libraries.
#include <atomic>
#include <stdexcept>

#include "libgdr/compat/grape/calls.hpp"
#include "support/catch.hpp"

using gdr::compat::grape::for_each_target;

TEST_CASE("an exception in a loop over targets reaches the caller, in threads or not") {
  for (const bool in_threads : {false, true}) {
    std::atomic<std::size_t> calls = 0;
    for_each_target(1000, in_threads, [&](std::size_t) { ++calls; });
    CHECK(calls == 1000);
    for_each_target(0, in_threads, [&](std::size_t) { ++calls; });
    CHECK(calls == 1000);
    const auto fail = [&](std::size_t i) {
      if (i % 300 == 299) throw std::length_error("too long");
      ++calls;
    };
    CHECK_THROWS_AS(for_each_target(1000, in_threads, fail), std::length_error);
    CHECK(calls == 1997);
  }
}
