// Two kinds of work measured in turns.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "libgdr/cli/bench/timing.hpp"

namespace gdr::bench {

/// Seconds of one call, often enough that a measurement takes a tenth of a second or more.
class Timed {
 public:
  explicit Timed(std::function<void()> work) : work_(std::move(work)) {
    work_();
    const double once = seconds_of(work_);
    times_ = std::max(1, static_cast<int>(std::lround(0.1 / once)));
  }
  double seconds() const {
    return seconds_of([this] {
             for (int k = 0; k < times_; ++k) work_();
           }) /
           times_;
  }

 private:
  std::function<void()> work_;
  int times_ = 1;
};

/// Two kinds of work in turns, each at its quietest: what else a host does only ever adds time.
/// The ratio of the times, and the first's seconds.
struct Compared {
  double ratio = 0, seconds = 0;
};
inline Compared compare(const Timed& work, const Timed& other, unsigned repetitions) {
  constexpr double enough_seconds = 3;
  double quietest = 0, beside = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (unsigned k = 0; k < repetitions || spent() < enough_seconds; ++k) {
    const double a = other.seconds(), b = work.seconds();
    beside = k == 0 ? a : std::min(beside, a);
    quietest = k == 0 ? b : std::min(quietest, b);
  }
  return {beside / quietest, quietest};
}

}  // namespace gdr::bench
