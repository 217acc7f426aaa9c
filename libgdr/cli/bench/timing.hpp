// Measuring time: medians of repetitions.
#pragma once

#include <chrono>
#include <vector>

namespace gdr::bench {

/// Seconds that one call takes.
template <typename Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The middle value; of an even number the mean of the two in the middle. 0 for none.
double median(std::vector<double> values);

}  // namespace gdr::bench
