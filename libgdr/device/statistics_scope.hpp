// What a run of any kind adds to the statistics of its device.
#pragma once

#include <chrono>
#include <cstdint>

#include "libgdr/device/core.hpp"

namespace gdr {

/// Adds what all boards counted meanwhile when it goes out of scope, however the run ends.
class StatisticsScope {
 public:
  explicit StatisticsScope(DeviceCore& device);
  StatisticsScope(const StatisticsScope&) = delete;
  StatisticsScope& operator=(const StatisticsScope&) = delete;
  ~StatisticsScope();

  /// The run came to its end, and did so much.
  void complete(std::uint64_t interactions, double flops) noexcept;
  /// The host converted results for so long, in it; adds up.
  void add_conversion_time(double seconds) noexcept { conversion_seconds_ += seconds; }

 private:
  DeviceCore& device_;
  EngineStats before_;
  std::uint64_t runs_ = 0, interactions_ = 0;
  double flops_ = 0, conversion_seconds_ = 0;
  LinkTimes times_before_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace gdr
