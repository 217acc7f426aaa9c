// The length of random tests.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace gdr::test {

/// Iterations of a random test: the environment variable GDR_TEST_ITERATIONS if it is set, else
/// `quick`, with which the test takes seconds.
inline std::uint64_t test_iterations(std::uint64_t quick) {
  const char* const asked = std::getenv("GDR_TEST_ITERATIONS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : quick;
}

}  // namespace gdr::test
