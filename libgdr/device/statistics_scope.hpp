// Accounting of a run in the statistics of its device.
#pragma once

#include <cstdint>

#include "emulator/host/stopwatch.hpp"
#include "libgdr/device/core.hpp"

namespace gdr {

/// Adds the counters of all boards to the statistics at the end of its scope, also after an error.
class StatisticsScope {
 public:
  explicit StatisticsScope(DeviceCore& device);
  StatisticsScope(const StatisticsScope&) = delete;
  StatisticsScope& operator=(const StatisticsScope&) = delete;
  ~StatisticsScope();

  /// Marks the run as complete and records its work.
  void complete(std::uint64_t interactions, double flops) noexcept;
  /// Adds host time spent converting results, seconds.
  void add_conversion_time(double seconds) noexcept { conversion_seconds_ += seconds; }

 private:
  DeviceCore& device_;
  EngineStats before_;
  std::uint64_t runs_ = 0, interactions_ = 0;
  double flops_ = 0, conversion_seconds_ = 0;
  LinkTimes times_before_;
  Stopwatch timer_;
};

}  // namespace gdr
