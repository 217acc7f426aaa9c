// Measuring time: of one call, of medians, and of two kinds of work in alternation.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "emulator/host/stopwatch.hpp"

namespace gdr::bench {

/// Seconds that one call takes.
template <typename Work>
double seconds_of(const Work& work) {
  const Stopwatch stopwatch;
  work();
  return stopwatch.seconds();
}

/// The middle value; of an even number the mean of the two in the middle. 0 for none.
double median(std::vector<double> values);

/// Work that is repeated in one measurement until it takes a tenth of a second or more.
class TimedWork {
 public:
  explicit TimedWork(std::function<void()> work) : work_(std::move(work)) {
    work_();
    const double once = seconds_of(work_);
    times_ = std::max(1, static_cast<int>(std::lround(0.1 / once)));
  }
  /// Seconds of one call.
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

struct Comparison {
  double ratio = 0;    ///< seconds of the other work over seconds of the work
  double seconds = 0;  ///< time of the work, s
};
/// Measure two kinds of work in alternation, at least so often and for three seconds, and compare
/// the least times: other programs on the host only ever add time.
Comparison compare(const TimedWork& work, const TimedWork& other, unsigned repetitions);

}  // namespace gdr::bench
