// The sender of a stream: its window by the law of its congestion control, and what is in flight.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "libgdr/predict/ring.hpp"
#include "libgdr/predict/streams.hpp"

namespace gdr::predict {

/// Windows are counted in segments, except where bytes are named.
class Sender {
 public:
  explicit Sender(const Stream& stream);

  const Stream& stream() const noexcept { return stream_; }
  double mss() const noexcept { return mss_; }
  double wire_bytes() const noexcept { return stream_.mtu + frame_bytes; }
  double window_packets() const noexcept { return std::min(state_.window, largest_); }
  std::uint64_t reductions() const noexcept { return reductions_; }
  std::uint64_t flight() const noexcept { return flight_; }
  bool started() const noexcept { return started_; }
  void start() noexcept { started_ = true; }

  bool paced() const noexcept { return stream_.control == Congestion::Paced; }
  /// Whether packets leave at a distance from each other.
  bool spaced() const noexcept { return paced() || stream_.pacing; }
  bool may_send() const noexcept { return static_cast<double>(flight_ + 1) <= window_packets(); }
  void send(double now);
  /// The number of the packet that arrives next at the bottleneck.
  std::uint64_t next_arrival() noexcept { return arrived_++; }
  /// Time between packets that are spaced, seconds.
  double packet_interval() const noexcept;

  void acknowledge(std::uint64_t number, double now);
  /// True if the window was reduced.
  bool notice_loss(std::uint64_t number, double now);

  /// Whether the window follows grow() until the next loss or queue.
  bool grows_steadily() const noexcept;
  /// Growth until `now` in undisturbed round trips, also in parts of one.
  void grow(double rounds, double now) noexcept;
  /// Fills the window with packets in flight; returns the number of the first.
  std::uint64_t refill() noexcept;
  /// The time at which a packet of refill() was sent; in their order.
  void refill_time(double sent) {
    if (measures_) sent_times_.push(sent);
  }
  /// Whether the window has stopped growing.
  bool settled() const noexcept;
  /// `seconds` pass in which so many packets are acknowledged, and no window changes.
  void pass(double seconds, double packets) noexcept;

 private:
  bool slow_start() const noexcept { return state_.window < threshold_; }
  void grow_on_ack() noexcept;
  void end_round(double now);
  void keep_backlog() noexcept;
  void estimate(double now);

  Stream stream_;
  const CongestionLaw& law_;
  WindowState state_;
  double mss_, largest_, threshold_;
  bool measures_;
  std::uint64_t flight_ = 0, sent_ = 0, arrived_ = 0, reductions_ = 0;
  std::uint64_t recovered_ = 0;  // packets before this one belong to a loss that was noticed
  bool started_ = false, recovering_ = false, odd_ = false;

  // Laws that measure: once a round trip.
  Ring<double> sent_times_;
  std::uint64_t round_end_ = 0, round_acks_ = 0;
  double round_begin_ = 0, last_rtt_ = 0, last_change_ = 1;
  // Paced at the estimated bandwidth.
  std::array<double, 10> samples_{};
  std::uint64_t round_ = 0;
  double bandwidth_ = 0, gain_ = 2;
  unsigned flat_rounds_ = 0, probe_ = 0;
  enum class Phase { StartUp, Drain, Probe } phase_ = Phase::StartUp;
};

}  // namespace gdr::predict
