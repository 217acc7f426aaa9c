#include "libgdr/predict/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "gdr/error.hpp"
#include "libgdr/predict/ring.hpp"
#include "libgdr/predict/sender.hpp"

namespace gdr::predict {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Share of the line up to which windows grow without simulated packets.
constexpr double free_share = 0.98;

void require(bool good, std::string_view what, double value, std::string_view range) {
  if (!good)
    throw Error(ErrorCategory::Usage, fmt::format("{} = {:g}: must be {}", what, value, range));
}

void check(const Path& path, const std::vector<Stream>& streams, double seconds, double warm_up) {
  require(path.rate >= 1e3 && path.rate <= 1e15, "rate", path.rate, "from 1e3 to 1e15 bytes/s");
  require(path.queue_packets >= 1, "queue", path.queue_packets, "at least 1 packet");
  require(path.queue_bytes >= 1, "queue", path.queue_bytes, "at least 1 byte");
  require(path.loss >= 0 && path.loss <= 0.1, "loss", path.loss, "from 0 to 0.1");
  const double jitter = path.jitter.value_or(0);
  require(jitter >= 0 && jitter <= 1, "jitter", jitter, "from 0 to 1 s");
  require(seconds > 0 && seconds <= 1e6, "seconds", seconds, "above 0, up to 1e6");
  require(warm_up >= 0 && warm_up < seconds, "warm-up", warm_up, "shorter than the simulated time");
  require(!streams.empty() && streams.size() <= 256, "streams", static_cast<double>(streams.size()),
          "from 1 to 256");
  for (const Stream& s : streams) {
    require(s.rtt >= 1e-6 && s.rtt <= 100, "rtt", s.rtt, "from 1e-6 to 100 s");
    require(s.mtu >= 100 && s.mtu <= 65536, "mtu", s.mtu, "from 100 to 65536 bytes");
    require(s.window >= mss_of(s.mtu), "window", s.window, "at least one segment, in bytes");
    require(s.pace >= 0, "pace", s.pace, "0, or a rate in bytes/s");
    require(s.backlog >= 1 && s.backlog <= 1e6, "backlog", s.backlog, "from 1 to 1e6 segments");
    require(s.reference >= 1e-6 && s.reference <= 100, "reference", s.reference,
            "from 1e-6 to 100 s");
    const double least = 10 * mss_of(s.mtu) / s.rtt;
    require(s.host_rate >= least, "host rate", s.host_rate,
            fmt::format("at least 10 segments in a round trip, {:g} bytes/s", least));
    require(s.threshold >= 2 * mss_of(s.mtu), "threshold", s.threshold,
            "at least two segments, in bytes");
    require(s.start >= 0 && s.start < seconds, "start", s.start,
            "from 0 to the end of the simulation");
  }
}

struct Packet {
  std::size_t stream;
  std::uint64_t number;
};

/// The queue before the line, and the packet on it.
class Bottleneck {
 public:
  Bottleneck(const Path& path, const std::vector<Sender>& senders)
      : path_(path), senders_(senders), queues_(path.merge == Merge::Fifo ? 1 : senders.size()) {}

  double departure() const noexcept { return departure_; }
  double largest() const noexcept { return largest_; }
  bool idle() const noexcept { return departure_ == never; }

  /// False if the queue is full. The packet that is being sent does not occupy it.
  bool accept(const Packet& packet, double now) {
    const double size = senders_[packet.stream].wire_bytes();
    if (idle()) {
      send(packet, now);
      return true;
    }
    if (static_cast<double>(waiting_) >= path_.queue_packets || bytes_ + size > path_.queue_bytes)
      return false;
    queues_[path_.merge == Merge::Fifo ? 0 : packet.stream].push(packet);
    ++waiting_;
    bytes_ += size;
    largest_ = std::max(largest_, bytes_);
    return true;
  }
  /// The packet that has been sent; the next one follows.
  Packet depart() {
    const Packet gone = sending_;
    const double now = departure_;
    departure_ = never;
    if (waiting_ == 0) return gone;
    while (queues_[turn_ % queues_.size()].empty()) ++turn_;
    auto& queue = queues_[turn_++ % queues_.size()];
    const Packet next = queue.front();
    queue.pop();
    --waiting_;
    bytes_ -= senders_[next.stream].wire_bytes();
    send(next, now);
    return gone;
  }

 private:
  void send(const Packet& packet, double now) noexcept {
    sending_ = packet;
    departure_ = now + senders_[packet.stream].wire_bytes() / path_.rate;
  }

  const Path& path_;
  const std::vector<Sender>& senders_;
  std::vector<Ring<Packet>> queues_;
  std::size_t turn_ = 0, waiting_ = 0;
  double bytes_ = 0, largest_ = 0;
  Packet sending_{};
  double departure_ = never;
};

class Simulation {
 public:
  Simulation(const Path& path, const std::vector<Stream>& streams, double seconds, double warm_up,
             std::uint64_t seed, double max_packets)
      : path_(path),
        seconds_(seconds),
        warm_up_(warm_up),
        max_packets_(max_packets),
        random_(seed),
        senders_(streams.begin(), streams.end()),
        arrivals_(streams.size()),
        acks_(streams.size()),
        last_arrival_(streams.size(), 0),
        next_send_(streams.size(), 0),
        until_loss_(streams.size()),
        counted_(streams.size(), 0),
        reduced_(streams.size(), 0),
        cycles_(streams.size(), 0),
        losses_(streams.size(), 0),
        bottleneck_(path_, senders_) {
    for (std::size_t s = 0; s < streams.size(); ++s) {
      longest_rtt_ = std::max(longest_rtt_, streams[s].rtt);
      until_loss_[s] = packets_until_loss();
      if (path.periodic_loss) until_loss_[s] *= uniform_(random_);  // streams differ
      jitter_ = std::max(jitter_, senders_[s].wire_bytes() / path.rate);
    }
    jitter_ = path.jitter.value_or(jitter_);
  }

  StreamsResult run() {
    double next_check = 0;
    for (;;) {
      const Event event = next_event();
      if (event.time + passed_ > seconds_) break;
      now_ = event.time;
      handle(event);
      if (now_ < next_check) continue;
      next_check = now_ + longest_rtt_;
      if (can_skip()) skip();
      if (is_constant()) pass();
    }
    return result();
  }

 private:
  enum class Kind { Start, Send, Arrival, Departure, Ack };
  struct Event {
    double time;
    Kind kind;
    std::size_t stream;
  };
  struct Ack {
    double time;
    std::uint64_t number;
    bool lost;  ///< the time at which its loss is noticed
  };

  Event next_event() noexcept {
    Event next{bottleneck_.departure(), Kind::Departure, 0};
    const auto consider = [&](double time, Kind kind, std::size_t stream) {
      if (time < next.time) next = {time, kind, stream};
    };
    for (std::size_t s = 0; s < senders_.size(); ++s) {
      if (!senders_[s].started()) {
        consider(senders_[s].stream().start, Kind::Start, s);
        continue;
      }
      if (!arrivals_[s].empty()) consider(arrivals_[s].front(), Kind::Arrival, s);
      if (!acks_[s].empty()) consider(acks_[s].front().time, Kind::Ack, s);
      if (senders_[s].spaced() && senders_[s].may_send()) consider(next_send_[s], Kind::Send, s);
    }
    return next;
  }

  void handle(const Event& event) {
    const std::size_t s = event.stream;
    if (event.kind == Kind::Start) {
      senders_[s].start();
      send_all(s);
    } else if (event.kind == Kind::Send) {
      send_all(s);
    } else if (event.kind == Kind::Arrival) {
      arrivals_[s].pop();
      arrive(s);
    } else if (event.kind == Kind::Departure) {
      const Packet gone = bottleneck_.depart();
      const double rtt = senders_[gone.stream].stream().rtt;
      acks_[gone.stream].push({now_ + rtt, gone.number, false});
    } else {
      const Ack ack = acks_[s].front();
      acks_[s].pop();
      if (ack.lost) {
        --unnoticed_;
        if (senders_[s].notice_loss(ack.number, now_)) {
          cycles_[s] = elapsed() - reduced_[s];
          reduced_[s] = elapsed();
        }
      } else {
        acknowledge(s, ack);
      }
      send_all(s);
    }
  }

  void acknowledge(std::size_t s, const Ack& ack) {
    if (elapsed() >= warm_up_) counted_[s] += senders_[s].mss();
    senders_[s].acknowledge(ack.number, now_);
  }

  /// Sends what window and pace allow; packets arrive at the bottleneck in this order.
  void send_all(std::size_t s) {
    Sender& sender = senders_[s];
    while (sender.may_send()) {
      if (sender.spaced()) {
        if (now_ < next_send_[s]) return;
        next_send_[s] = now_ + sender.packet_interval();
      }
      sender.send(now_);
      last_arrival_[s] = std::max(last_arrival_[s], now_ + jitter_ * uniform_(random_));
      arrivals_[s].push(last_arrival_[s]);
      if (++packets_ > max_packets_)
        throw Error(ErrorCategory::Usage,
                    fmt::format("more than {:g} packets would be simulated: simulate fewer "
                                "seconds, or a smaller rate",
                                max_packets_));
    }
  }

  void arrive(std::size_t s) {
    const std::uint64_t number = senders_[s].next_arrival();
    bool lost = false;
    if (--until_loss_[s] < 1) {
      until_loss_[s] += packets_until_loss();
      lost = true;
    } else if (!bottleneck_.accept({s, number}, now_)) {
      lost = true;
      ++overflows_;
    }
    if (!lost) return;
    ++losses_[s];
    ++unnoticed_;
    // The packets behind it report the gap.
    const double waits = bottleneck_.idle() ? 0 : bottleneck_.departure() - now_;
    const double noticed = now_ + waits + senders_[s].stream().rtt;
    acks_[s].push(
        {acks_[s].empty() ? noticed : std::max(noticed, acks_[s].back().time), number, true});
  }

  double packets_until_loss() {
    if (path_.loss <= 0) return never;
    if (path_.periodic_loss) return 1 / path_.loss;
    return 1 + std::floor(std::log1p(-uniform_(random_)) / std::log1p(-path_.loss));
  }

  double line_rate() const noexcept {
    double sum = 0;
    for (const Sender& sender : senders_)
      sum += sender.window_packets() * sender.wire_bytes() / sender.stream().rtt;
    return sum;
  }

  /// Whether windows grow undisturbed, and all packets fit the line.
  bool can_skip() const noexcept {
    if (senders_.size() > 1 || unnoticed_ > 0 || !bottleneck_.idle() ||
        line_rate() > free_share * path_.rate)
      return false;
    for (std::size_t s = 0; s < senders_.size(); ++s) {
      if (!senders_[s].grows_steadily()) return false;
      if (until_loss_[s] < 4 * senders_[s].window_packets()) return false;
    }
    return true;
  }

  /// Lets the windows grow, round trip by round trip, until a loss or a full line is near; then
  /// continues with packets at equal distances.
  void skip() {
    double shortest = never;
    for (const Sender& sender : senders_) shortest = std::min(shortest, sender.stream().rtt);
    const double began = now_;
    while (elapsed() + shortest < seconds_ && can_skip_on(shortest)) {
      for (std::size_t s = 0; s < senders_.size(); ++s) {
        const double rounds = shortest / senders_[s].stream().rtt;
        const double sent = rounds * senders_[s].window_packets();
        if (elapsed() >= warm_up_) counted_[s] += sent * senders_[s].mss();
        until_loss_[s] -= sent;
        senders_[s].grow(rounds, now_ + shortest);
      }
      now_ += shortest;
    }
    if (now_ == began) return;
    for (std::size_t s = 0; s < senders_.size(); ++s) refill(s);
  }

  bool can_skip_on(double shortest) const noexcept {
    if (line_rate() > free_share * path_.rate) return false;
    for (std::size_t s = 0; s < senders_.size(); ++s)
      if (until_loss_[s] <
          (2 + shortest / senders_[s].stream().rtt) * senders_[s].window_packets() + 2)
        return false;
    return true;
  }

  void refill(std::size_t s) {
    Sender& sender = senders_[s];
    arrivals_[s].clear();
    acks_[s].clear();
    const std::uint64_t first = sender.refill();
    const std::uint64_t count = sender.flight();
    const double gap = sender.stream().rtt / static_cast<double>(count);
    const double phase = uniform_(random_);
    for (std::uint64_t k = 0; k < count; ++k) {
      const double arrives = now_ + (static_cast<double>(k) + phase) * gap;
      acks_[s].push({arrives, first + k, false});
      sender.refill_time(arrives - sender.stream().rtt);
    }
    last_arrival_[s] = now_;
  }

  /// Time since the begin of the simulation: that of the events, and what passed without events.
  double elapsed() const noexcept { return now_ + passed_; }

  /// Whether a single stream fills the line with a constant window, which must be larger than what
  /// the line holds: the packets of a smaller one also find the line busy if they come in bursts.
  bool is_constant() const noexcept {
    return senders_.size() == 1 && unnoticed_ == 0 && !bottleneck_.idle() &&
           line_rate() > path_.rate && senders_[0].settled() &&
           until_loss_[0] > 8 * senders_[0].window_packets();
  }

  /// Time passes until a loss, the end of the warm-up or that of the simulation is near; all events
  /// keep their distances.
  void pass() {
    const double rate = path_.rate / senders_[0].wire_bytes();
    const double end = elapsed() < warm_up_ ? warm_up_ : seconds_;
    const double packets = std::floor(
        std::min(until_loss_[0] - 4 * senders_[0].window_packets(), (end - elapsed()) * rate - 1));
    if (packets < senders_[0].window_packets()) return;
    if (elapsed() >= warm_up_) counted_[0] += packets * senders_[0].mss();
    until_loss_[0] -= packets;
    passed_ += packets / rate;
    senders_[0].pass(packets / rate, packets);
  }

  StreamsResult result() const {
    StreamsResult all;
    const double time = seconds_ - warm_up_;
    double on_line = 0;
    for (std::size_t s = 0; s < senders_.size(); ++s) {
      const Sender& sender = senders_[s];
      const double rate = counted_[s] / time;
      all.streams.push_back({rate, losses_[s], sender.reductions(),
                             sender.window_packets() * sender.mss(),
                             sender.reductions() > 1 ? cycles_[s] : 0});
      all.throughput += rate;
      on_line += rate / sender.mss() * sender.wire_bytes();
    }
    all.utilisation = on_line / path_.rate;
    all.largest_queue = bottleneck_.largest();
    all.overflows = overflows_;
    return all;
  }

  Path path_;
  double seconds_, warm_up_, max_packets_;
  double now_ = 0, passed_ = 0, packets_ = 0, longest_rtt_ = 0, jitter_ = 0;
  std::uint64_t overflows_ = 0, unnoticed_ = 0;  // packets lost; those whose loss is not noticed
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  std::vector<Sender> senders_;
  std::vector<Ring<double>> arrivals_;
  std::vector<Ring<Ack>> acks_;
  std::vector<double> last_arrival_, next_send_, until_loss_, counted_, reduced_, cycles_;
  std::vector<std::uint64_t> losses_;
  Bottleneck bottleneck_;
};

}  // namespace

StreamsResult simulate_streams(const Path& path, const std::vector<Stream>& streams, double seconds,
                               double warm_up, std::uint64_t seed, double max_packets) {
  check(path, streams, seconds, warm_up);
  return Simulation(path, streams, seconds, warm_up, seed, max_packets).run();
}

}  // namespace gdr::predict
