#include "libgdr/predict/sender.hpp"

namespace gdr::predict {
namespace {

constexpr double scalable_increase = 0.01, scalable_decrease = 0.875;
constexpr double delay_weight = 0.5;
/// Gains of the pace in the round trips of a cycle that probes for more bandwidth: one above the
/// estimate, one below it that empties the queue again.
constexpr std::array<double, 8> probe_gains{1.25, 0.75, 1, 1, 1, 1, 1, 1};
constexpr unsigned rounds_without_growth = 3;
constexpr double growth_of_start_up = 1.25;

}  // namespace

Sender::Sender(const Stream& stream)
    : stream_(stream),
      mss_(mss_of(stream.mtu)),
      largest_(std::max(1.0, std::floor(stream.window / mss_))) {
  if (!paced()) return;
  threshold_ = 0;
  // The rate limits a paced stream, not a window that grows; an estimate begins with few packets.
  window_ = stream_.pace > 0 ? largest_ : 10;
  if (stream_.pace <= 0) bandwidth_ = window_ / stream_.rtt;
}

double Sender::packet_interval() const noexcept {
  return stream_.pace > 0 ? mss_ / stream_.pace : 1 / (gain_ * bandwidth_);
}

void Sender::send(double now) {
  if (stream_.control == Congestion::Delay || paced()) sent_times_.push(now);
  ++sent_;
  ++flight_;
}

void Sender::acknowledge(std::uint64_t number, double now) {
  --flight_;
  if (!sent_times_.empty()) {
    last_rtt_ = now - sent_times_.front();
    sent_times_.pop();
    ++round_acks_;
    if (paced()) {
      if (now - round_begin_ >= stream_.rtt) end_round(now);
    } else if (number >= round_end_) {
      end_round(now);
    }
  }
  if (recovering_) {
    if (number < recovered_) return;
    recovering_ = false;
  }
  odd_ = !odd_;
  if (!stream_.delayed_acks || odd_) grow_on_ack();
}

void Sender::grow_on_ack() noexcept {
  if (window_ >= largest_ || paced()) return;
  if (slow_start())
    window_ += 1;
  else if (stream_.control == Congestion::Reno)
    window_ += 1 / window_;
  else if (stream_.control == Congestion::Scalable)
    window_ += scalable_increase;
}

bool Sender::notice_loss(std::uint64_t number) {
  --flight_;
  if (!sent_times_.empty()) sent_times_.pop();
  if (paced() || number < recovered_) return false;
  ++reductions_;
  recovered_ = sent_;
  recovering_ = true;
  const double share = stream_.control == Congestion::Scalable ? scalable_decrease : 0.5;
  window_ = threshold_ = std::max(2.0, share * static_cast<double>(flight_ + 1));
  return true;
}

void Sender::end_round(double now) {
  round_end_ = sent_;
  if (paced()) {
    if (stream_.pace <= 0) estimate(now);
  } else if (stream_.control == Congestion::Delay && !recovering_ && last_rtt_ > 0) {
    // The segments that wait are those beyond what a round trip without queue would hold.
    const double waiting = window_ * (1 - stream_.rtt / last_rtt_);
    if (slow_start() && waiting < stream_.backlog) return;
    const double aim = window_ - waiting + stream_.backlog;
    window_ = std::clamp((1 - delay_weight) * window_ + delay_weight * aim, 2.0, largest_);
    threshold_ = std::min(threshold_, window_);
  }
  round_begin_ = now;
  round_acks_ = 0;
}

void Sender::estimate(double now) {
  if (round_begin_ > 0 && now > round_begin_) {
    samples_[round_++ % samples_.size()] = static_cast<double>(round_acks_) / (now - round_begin_);
    const double before = bandwidth_;
    bandwidth_ = std::max(1 / stream_.rtt, *std::ranges::max_element(samples_));
    flat_rounds_ = bandwidth_ < growth_of_start_up * before ? flat_rounds_ + 1 : 0;
  }
  const double pipe = bandwidth_ * stream_.rtt;
  if (phase_ == Phase::StartUp && flat_rounds_ >= rounds_without_growth) {
    phase_ = Phase::Drain;
    gain_ = 0.5;
  } else if (phase_ == Phase::Drain && static_cast<double>(flight_) <= pipe) {
    phase_ = Phase::Probe;
  }
  if (phase_ == Phase::Probe) gain_ = probe_gains[probe_++ % probe_gains.size()];
  window_ = std::clamp(2 * pipe, 10.0, std::max(10.0, largest_));
}

bool Sender::grows_steadily() const noexcept {
  if (!started_ || recovering_) return false;
  if (paced()) return false;
  if (window_ >= largest_ && stream_.control != Congestion::Delay) return true;
  return !slow_start() && stream_.control != Congestion::Delay;
}

void Sender::grow(double rounds) noexcept {
  const double acks = window_packets() * rounds * (stream_.delayed_acks ? 0.5 : 1);
  if (window_ >= largest_) return;
  window_ += stream_.control == Congestion::Scalable ? scalable_increase * acks : acks / window_;
}

std::uint64_t Sender::refill() noexcept {
  const auto count = static_cast<std::uint64_t>(window_packets());
  flight_ = count;
  sent_ += count;
  arrived_ = sent_;
  return sent_ - count;
}

}  // namespace gdr::predict
