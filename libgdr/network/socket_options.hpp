// Windows, pacing and congestion control of a TCP socket.
#pragma once

#include <cstdint>
#include <string>

namespace gdr::network {

/// Bytes in flight that the system allows a stream in each direction: about half of the largest
/// buffers, because buffers also hold the system's own data.
struct WindowLimits {
  std::uint64_t send = 0, receive = 0;
};
WindowLimits window_limits();

/// Settings of a stream.
struct StreamSettings {
  std::uint64_t window = 0;  ///< bytes in flight; 0: the system's choice
  double pacing = 0;         ///< bytes per second; 0: none
  std::string congestion;    ///< empty: the system's default
};

/// Applies settings to a socket; returns why one of them was refused by the system, else nothing.
std::string apply_settings(int socket, const StreamSettings& settings);

/// Limits the rate of a socket; false if the system refuses that.
bool set_pacing(int socket, double bytes_per_second);

/// What the system has measured on a connected socket; zeros: unknown.
struct SocketState {
  double round_trip_seconds = 0;
  double delivery_rate = 0;  ///< bytes per second
  double pacing_rate = 0;    ///< limit, bytes per second; 0: none
  std::uint64_t retransmitted_packets = 0;
};
SocketState socket_state(int socket);

/// Paces a stream by its measured rate of delivery.
class DynamicPacing {
 public:
  /// Measures and sets the pacing rate of the socket; to be called about once per round trip.
  void update(int socket);
  /// The current rate, bytes per second; 0: none yet.
  double rate() const noexcept { return rate_; }

 private:
  static constexpr unsigned samples = 10;
  double rates_[samples] = {};  ///< rates of the last round trips
  unsigned next_ = 0;
  std::uint64_t retransmitted_ = 0;
  double rate_ = 0;
};

}  // namespace gdr::network
