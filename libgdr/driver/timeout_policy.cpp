#include "libgdr/driver/timeout_policy.hpp"

#include <algorithm>

namespace gdr::driver {
namespace {

constexpr double min_seconds = 5, max_seconds = 60;
constexpr double min_bytes_per_second = 20e6;
/// Seconds per PE and clock. The vector engine needs half a nanosecond, the reference engine 70.
constexpr double heartbeat_lane_clock = 0.2e-6, total_lane_clock = 20e-6;

}  // namespace

double response_timeout(double timeout_seconds) noexcept {
  return timeout_seconds > 0 ? timeout_seconds : max_seconds;
}

TimeoutPolicy timeout_policy(double timeout_seconds, const ListWork& work) noexcept {
  const double copying = static_cast<double>(work.bytes) / min_bytes_per_second;
  const double derived = min_seconds + copying + work.block_lane_clocks * heartbeat_lane_clock;
  TimeoutPolicy p;
  p.heartbeat_seconds = timeout_seconds > 0 ? timeout_seconds : std::min(derived, max_seconds);
  p.total_seconds = 10 * (p.heartbeat_seconds + copying) + work.lane_clocks * total_lane_clock;
  return p;
}

}  // namespace gdr::driver
