// Elapsed time on the host's steady clock.
#pragma once

#include <chrono>

namespace gdr {

class Stopwatch {
 public:
  /// Time since construction, in seconds.
  double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace gdr
