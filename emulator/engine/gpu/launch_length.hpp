// How many iterations of a loop a GPU executes in one launch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gdr {

/// Launches are short enough to cancel a calculation, to leave a display alive and to stay below
/// the limits of drivers, which end launches of some seconds: about 0.1 s each, by the rate of
/// those before. Results do not depend on it.
class LaunchLength {
 public:
  /// `threads`: of a launch; `rate`: interactions a second of a small device.
  explicit LaunchLength(std::size_t threads, double rate = 1e9) noexcept
      : iterations_(std::max<std::uint64_t>(min_iterations,
                                            static_cast<std::uint64_t>(rate * seconds_of_launch) /
                                                std::max<std::size_t>(threads, 1))) {}

  /// Of the next launch.
  std::uint64_t iterations() const noexcept { return iterations_; }
  void record(std::uint64_t iterations, double seconds) noexcept {
    const double rate = static_cast<double>(iterations) / std::max(1e-6, seconds);
    iterations_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rate * seconds_of_launch), 1,
                                            8 * iterations_);
  }

 private:
  static constexpr double seconds_of_launch = 0.1;
  static constexpr std::uint64_t min_iterations = 256;
  std::uint64_t iterations_;
};

}  // namespace gdr
