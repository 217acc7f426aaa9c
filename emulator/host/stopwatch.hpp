// Elapsed time on the host's steady clock.
#pragma once

#include <chrono>

namespace gdr {

/// Reading of the host's steady clock, in seconds.
inline double steady_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Stopwatch {
 public:
  /// Time since construction, in seconds.
  double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Adds the lifetime of the object, in seconds, to a counter.
class AddElapsed {
 public:
  explicit AddElapsed(double& seconds) noexcept : seconds_(seconds) {}
  AddElapsed(const AddElapsed&) = delete;
  AddElapsed& operator=(const AddElapsed&) = delete;
  ~AddElapsed() { seconds_ += stopwatch_.seconds(); }

 private:
  double& seconds_;
  Stopwatch stopwatch_;
};

}  // namespace gdr
