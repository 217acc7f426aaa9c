// Response functions: the mean window of a stream alone, over the rate at which packets are lost;
// closed forms of the literature, and the simulation of the same conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/predict/streams.hpp"

namespace gdr::predict {

/// Mean window of a stream that loses the share `loss` of its segments and fills no queue, in
/// segments; nothing for laws that such losses do not limit (Westwood, Paced). Of the stream,
/// `control`, `rtt`, `backlog` and `reference` count.
std::optional<double> response_window(const Stream& stream, double loss);
/// The source of response_window(), and what was derived from it.
std::string_view response_source(Congestion control) noexcept;

/// Seconds in which a stream that filled a line of `rate` bytes/s reaches its rate again after one
/// loss; nothing for laws without an increase of their own in segments.
std::optional<double> response_recovery(const Stream& stream, double rate);

struct ResponsePoint {
  Congestion control = Congestion::Reno;
  double rtt = 0, loss = 0;
  double simulated = 0;  ///< throughput, bytes/s
  /// Throughput by the closed form, bytes/s; nothing where there is none.
  std::optional<double> closed_form;
  bool accurate = true;  ///< random losses: whether they and the segments are enough for 4 %
};

inline constexpr double response_rtts[] = {0.006, 0.12, 0.177};
/// The rate up to which windows grow.
inline constexpr double response_rate = 1.25e9;
/// Whether the simulation is accurate and the law's window decides: below half of the rate above,
/// and more than 8 segments.
bool is_compared(const ResponsePoint& point) noexcept;

/// All laws that respond to losses, for the RTTs above and loss rates from 1e-3 to `least`, two in
/// a decade; packets of 1500 bytes. Losses are periodic, for Scalable random, as in the derivation
/// of each closed form. Grid DT's common round trip is 120 ms.
std::vector<ResponsePoint> response_functions(double least = 1e-6);
std::string response_csv(const std::vector<ResponsePoint>& points);

}  // namespace gdr::predict
