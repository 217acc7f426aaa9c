// The length of random tests, and the seed from which they count.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace gdr::test {

/// Iterations of a random test: the environment variable GDR_TEST_ITERATIONS if it is set, else
/// `quick`, with which the test takes a second or two.
inline std::uint64_t test_iterations(std::uint64_t quick) {
  const char* const asked = std::getenv("GDR_TEST_ITERATIONS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : quick;
}

/// Seed of a random test's first iteration: the environment variable GDR_TEST_SEED if it is set,
/// else one of the day (UTC), so that every day tests other inputs. The first call prints it.
inline std::uint64_t first_seed() {
  static const std::uint64_t seed = [] {
    const char* const asked = std::getenv("GDR_TEST_SEED");
    constexpr std::uint64_t seconds_of_day = 86400, seeds_of_day = 10000;
    const std::uint64_t day = static_cast<std::uint64_t>(std::time(nullptr)) / seconds_of_day;
    const std::uint64_t first =
        asked != nullptr ? std::strtoull(asked, nullptr, 10) : day * seeds_of_day;
    std::fprintf(stderr, "random tests with GDR_TEST_SEED=%llu\n",
                 static_cast<unsigned long long>(first));
    return first;
  }();
  return seed;
}

}  // namespace gdr::test
