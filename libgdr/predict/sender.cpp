#include "libgdr/predict/sender.hpp"

namespace gdr::predict {
namespace {

/// Gains of the pace of a window: above 1, so that it can grow, as in Linux (2.0 and 1.2).
constexpr double slow_start_gain = 2, avoidance_gain = 1.2;
/// Weight of a new sample in Westwood's estimate.
constexpr double bandwidth_weight = 0.125;
/// Gains of the pace in the round trips of a cycle that probes for more bandwidth: one above the
/// estimate, one below it that empties the queue again.
constexpr std::array<double, 8> probe_gains{1.25, 0.75, 1, 1, 1, 1, 1, 1};
constexpr unsigned rounds_without_growth = 3;
constexpr double growth_of_start_up = 1.25;

}  // namespace

Sender::Sender(const Stream& stream)
    : stream_(stream),
      law_(congestion_law(stream.control)),
      mss_(mss_of(stream.mtu)),
      largest_(
          std::max(1.0, std::floor(std::min(stream.window, stream.host_rate * stream.rtt) / mss_))),
      threshold_(stream.threshold / mss_),
      measures_(law_.measures || stream.pacing) {
  state_.rtt = stream.rtt;
  state_.reference_rtt = stream.reference;
  if (!paced()) return;
  threshold_ = 0;
  // The rate limits a paced stream, not a window that grows; an estimate begins with few packets.
  state_.window = stream_.pace > 0 ? largest_ : 10;
  if (stream_.pace <= 0) bandwidth_ = state_.window / stream_.rtt;
}

double Sender::packet_interval() const noexcept {
  if (paced()) return stream_.pace > 0 ? mss_ / stream_.pace : 1 / (gain_ * bandwidth_);
  const double gain = slow_start() ? slow_start_gain : avoidance_gain;
  return std::max(stream_.rtt, last_rtt_) / (gain * window_packets());
}

void Sender::send(double now) {
  if (measures_) sent_times_.push(now);
  ++sent_;
  ++flight_;
}

void Sender::acknowledge(std::uint64_t number, double now) {
  --flight_;
  state_.now = now;
  state_.acknowledged += 1;
  if (!sent_times_.empty()) {
    last_rtt_ = now - sent_times_.front();
    state_.longest_rtt = std::max(state_.longest_rtt, last_rtt_);
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
    state_.begin = now;
  }
  odd_ = !odd_;
  if (!stream_.delayed_acks || odd_) grow_on_ack();
}

void Sender::grow_on_ack() noexcept {
  if (state_.window >= largest_ || paced()) return;
  if (slow_start())
    state_.window += 1;
  else if (law_.increase)
    state_.window += law_.increase(state_);
}

bool Sender::notice_loss(std::uint64_t number, double now) {
  --flight_;
  if (!sent_times_.empty()) sent_times_.pop();
  if (paced() || number < recovered_) return false;
  ++reductions_;
  recovered_ = sent_;
  recovering_ = true;
  state_.now = now;
  state_.window = threshold_ =
      std::max(2.0, law_.decrease(state_, static_cast<double>(flight_ + 1)));
  state_.loss = state_.begin = now;
  state_.longest_rtt = state_.acknowledged = 0;
  return true;
}

void Sender::end_round(double now) {
  round_end_ = sent_;
  if (paced()) {
    if (stream_.pace <= 0) estimate(now);
  } else {
    if (now > round_begin_ && round_begin_ > 0) {
      const double sample = static_cast<double>(round_acks_) / (now - round_begin_);
      state_.bandwidth = state_.bandwidth > 0
                             ? (1 - bandwidth_weight) * state_.bandwidth + bandwidth_weight * sample
                             : sample;
    }
    if (!law_.increase && !recovering_ && last_rtt_ > 0) keep_backlog();
  }
  round_begin_ = now;
  round_acks_ = 0;
}

void Sender::keep_backlog() noexcept {
  // The segments that wait are those beyond what a round trip without queue would hold.
  const double waiting = state_.window * (1 - stream_.rtt / last_rtt_);
  if (slow_start() && waiting < stream_.backlog) return;
  const double before = state_.window;
  state_.window =
      std::clamp(before + law::fast_weight * (stream_.backlog - waiting), 2.0, largest_);
  last_change_ = std::abs(state_.window - before);
  threshold_ = std::min(threshold_, state_.window);
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
  state_.window = std::clamp(2 * pipe, 10.0, std::max(10.0, largest_));
}

bool Sender::grows_steadily() const noexcept {
  return started_ && !recovering_ && !paced() && (state_.window >= largest_ || !slow_start());
}

void Sender::grow(double rounds, double now) noexcept {
  state_.now = now;
  const double acks = window_packets() * rounds;
  state_.acknowledged += acks;
  state_.bandwidth = window_packets() / stream_.rtt;
  if (state_.window >= largest_) return;
  state_.window += law_.increase ? acks * (stream_.delayed_acks ? 0.5 : 1) * law_.increase(state_)
                                 : rounds * law::fast_weight * stream_.backlog;
}

bool Sender::settled() const noexcept {
  if (!started_ || recovering_ || paced() || slow_start()) return false;
  return state_.window >= largest_ || (!law_.increase && last_change_ < 0.5);
}

void Sender::pass(double seconds, double packets) noexcept {
  state_.begin -= seconds;
  state_.loss -= seconds;
  state_.acknowledged += packets;
}

std::uint64_t Sender::refill() noexcept {
  const auto count = static_cast<std::uint64_t>(window_packets());
  flight_ = count;
  sent_ += count;
  // Measurements begin anew.
  sent_times_.clear();
  round_end_ = sent_ - 1;
  round_begin_ = 0;
  round_acks_ = 0;
  arrived_ = sent_;
  return sent_ - count;
}

}  // namespace gdr::predict
