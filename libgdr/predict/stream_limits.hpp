// Closed forms for one TCP stream: what its window, its losses and its recovery from a loss allow.
// The simulation (streams.hpp) does not use them; the model of a remote board does.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace gdr::predict {

/// Headers of a segment within its MTU, bytes: IPv4 and TCP, without options.
inline constexpr double segment_headers = 40;
/// Bytes that Ethernet adds to an MTU: preamble, header, check sequence and gap.
inline constexpr double frame_bytes = 38;

/// Payload of a segment that fills an MTU, bytes.
inline double mss_of(double mtu) noexcept { return mtu - segment_headers; }
/// Share of a line's rate that payload can use.
inline double payload_share(double mtu) noexcept { return mss_of(mtu) / (mtu + frame_bytes); }

/// Throughput of a stream whose window is limited, bytes/s: a window for each round trip.
inline double window_limit(double window, double rtt) noexcept {
  return rtt > 0 ? window / rtt : std::numeric_limits<double>::infinity();
}

/// Time in which a Reno stream that filled a path of `rate` bytes/s without a queue reaches its
/// rate again after one loss, seconds: half of its window, C RTT / MSS segments, at one segment for
/// each round trip. Delayed acknowledgements double it.
inline double recovery_time(double rate, double rtt, double mss, bool delayed_acks) noexcept {
  return rate * rtt * rtt / (2 * mss) * (delayed_acks ? 2 : 1);
}

/// Throughput of a Reno stream that loses each segment with probability `loss`, bytes/s, for small
/// probabilities and without time-outs: Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior
/// of the TCP congestion avoidance algorithm", 1997; the constant is sqrt(3/2), with delayed
/// acknowledgements sqrt(3/4). Infinite without losses.
inline double loss_limit(double mss, double rtt, double loss, bool delayed_acks) noexcept {
  if (loss <= 0 || rtt <= 0) return std::numeric_limits<double>::infinity();
  return mss / rtt * std::sqrt((delayed_acks ? 0.75 : 1.5) / loss);
}

}  // namespace gdr::predict
