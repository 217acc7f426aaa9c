// Processor time of work, for tests of how it grows.
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace gdr::test {

/// The least processor time of three runs, in seconds. Other programs can double it, by sharing a
/// core or its caches; so limits are ratios of two such times, and lie far from the right ratio.
template <typename Work>
double processor_seconds(const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    const std::clock_t begin = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

}  // namespace gdr::test
