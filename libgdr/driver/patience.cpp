#include "libgdr/driver/patience.hpp"

#include <algorithm>

namespace gdr::driver {
namespace {

constexpr double least_seconds = 5, most_seconds = 60;
constexpr double slow_bytes_a_second = 20e6;
/// The vector engine needs half a nanosecond for a PE's clock, the reference engine 70.
constexpr double slow_lane_clock = 0.2e-6, slowest_lane_clock = 20e-6;

}  // namespace

double longest_silence(double timeout_seconds) noexcept {
  return timeout_seconds > 0 ? timeout_seconds : most_seconds;
}

Patience patience(double timeout_seconds, const ListWork& work) noexcept {
  const double copying = static_cast<double>(work.bytes) / slow_bytes_a_second;
  const double asked = least_seconds + copying + work.block_lane_clocks * slow_lane_clock;
  Patience p;
  p.quiet_seconds = timeout_seconds > 0 ? timeout_seconds : std::min(asked, most_seconds);
  p.whole_seconds = 10 * (p.quiet_seconds + copying) + work.lane_clocks * slowest_lane_clock;
  return p;
}

}  // namespace gdr::driver
