#include "libgdr/predict/response.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <utility>

#include "emulator/host/run_beside.hpp"

namespace gdr::predict {
namespace {

/// Mean window of additive increase by `more` segments for each round trip and a decrease by the
/// share `less`: the sawtooth of Mathis and others, 1997.
double sawtooth(double more, double less, double loss) noexcept {
  return std::sqrt(more * (2 - less) / (2 * less) / loss);
}

/// Packets and round trips from one loss to the next.
struct Cycle {
  double packets, rounds;
};

/// The window of the law whose cycle, which begins with the window `largest` or a time `largest`
/// after a loss, has 1/loss packets.
template <typename Function>
double mean_window(const Function& cycle_of, double loss) {
  double low = 1e-6, high = 1e12;
  for (int step = 0; step < 200; ++step) {
    const double middle = std::sqrt(low * high);
    (cycle_of(middle).packets < 1 / loss ? low : high) = middle;
  }
  const Cycle cycle = cycle_of(low);
  return cycle.packets / cycle.rounds;
}

/// Leith and Shorten: the law's increase, integrated over the seconds between two losses, with the
/// share 0.8 that a path without queue has.
Cycle htcp_cycle(double seconds, double rtt) noexcept {
  constexpr double share = law::htcp_largest_share;
  const double more = std::max(0.0, seconds - 1);
  const double grown = seconds + 5 * more * more + more * more * more / 12;
  const double grown_twice =
      seconds * seconds / 2 + 5.0 / 3 * more * more * more + more * more * more * more / 48;
  const double largest = 2 * grown / rtt;
  return {share * largest * seconds / rtt + 2 * (1 - share) * grown_twice / (rtt * rtt),
          seconds / rtt};
}

/// Xu, Harfoush and Rhee: rounds of additive increase, then of binary search, up to `largest`.
Cycle bic_cycle(double largest) noexcept {
  if (largest < law::bic_low) {
    const double rounds = largest / 2;
    return {0.75 * largest * rounds, rounds};
  }
  const double distance = law::bic_decrease * largest;
  const double additive = std::max(std::ceil(distance / law::bic_most) - 2, 0.0);
  const double rest = distance - additive * law::bic_most;
  const double search = std::max(0.0, std::log2(rest / law::bic_least)) + 2;
  const double first = largest - distance;
  return {additive * (first + (additive - 1) / 2 * law::bic_most) + largest * search - 2 * rest +
              law::bic_least,
          additive + search};
}

/// RFC 8312, section 5.1, and the bound of its section 4.2.
double cubic_window(double rtt, double loss) noexcept {
  constexpr double less = 1 - law::cubic_share;
  const double scale = law::cubic_scale * (3 + law::cubic_share) / (4 * less);
  return std::max(std::pow(scale, 0.25) * std::pow(rtt / loss, 0.75),
                  sawtooth(3 * less / (1 + law::cubic_share), less, loss));
}

/// A point with as many losses as the law needs to forget where it began.
ResponsePoint simulated_point(Congestion control, double rtt, double loss) {
  Stream stream;
  stream.control = control;
  stream.rtt = rtt;
  stream.reference = 0.12;
  stream.window = std::max(response_rate * rtt, 10 * mss_of(stream.mtu));
  const double mss = mss_of(stream.mtu), largest = stream.window / mss;
  const std::optional<double> closed = response_window(stream, loss);
  const double expected = std::clamp(closed.value_or(largest), 4.0, largest);
  stream.threshold = expected * mss;
  Path path;
  path.rate = 1e14;
  path.queue_packets = 1e15;
  path.loss = loss;
  // Kelly derives the mean change of a window from losses that are independent, the others the
  // window between two losses.
  const bool random = control == Congestion::Scalable;
  path.periodic_loss = !random;
  path.jitter = 0;
  // The first losses meet a window that is not yet the law's.
  const double cycle = std::max(1 / (loss * expected), 1.0) * rtt;
  const double seconds = (random ? std::clamp(1e7 * loss, 100.0, 1e4) : 60) * cycle;
  const StreamsResult result = simulate_streams(path, {stream}, seconds, seconds / 6, 1, 1e9);
  ResponsePoint point{control, rtt, loss, result.throughput, {}, true};
  // With fewer segments the rounding to whole ones shows in a window that grows by hundredths.
  if (random) point.accurate = result.streams[0].losses > 800 && closed && *closed > 100;
  if (closed) point.closed_form = *closed * mss / rtt;
  return point;
}

}  // namespace

std::optional<double> response_window(const Stream& s, double loss) {
  switch (s.control) {
    case Congestion::Reno:
      return sawtooth(1, 0.5, loss);
    case Congestion::HighSpeed:
      return loss > 1e-3 ? sawtooth(1, 0.5, loss) : 0.12 / std::pow(loss, 0.835);
    case Congestion::Scalable:
      return law::scalable_increase / (law::scalable_decrease * loss);
    case Congestion::HTcp:
      return mean_window([&](double seconds) { return htcp_cycle(seconds, s.rtt); }, loss);
    case Congestion::Bic:
      return mean_window(bic_cycle, loss);
    case Congestion::Cubic:
      return cubic_window(s.rtt, loss);
    case Congestion::Fast:
      return sawtooth(law::fast_weight * s.backlog, 0.5, loss);
    case Congestion::GridDt:
      return sawtooth(s.rtt * s.rtt / (s.reference * s.reference), 0.5, loss);
    case Congestion::Westwood:
    case Congestion::Paced:
      break;
  }
  return {};
}

std::string_view response_source(Congestion control) noexcept {
  switch (control) {
    case Congestion::Reno:
      return "Mathis and others 1997: sqrt(3 / (2 p))";
    case Congestion::HighSpeed:
      return "RFC 3649, section 5: 0.12 / p^0.835";
    case Congestion::Scalable:
      return "Kelly 2003: 0.08 / p";
    case Congestion::HTcp:
      return "Leith and Shorten 2004: their increase, integrated between two losses";
    case Congestion::Bic:
      return "Xu and others 2004: packets and rounds of additive increase and binary search";
    case Congestion::Cubic:
      return "RFC 8312, section 5.1: 1.054 (RTT / p)^0.75, at least Reno's";
    case Congestion::Fast:
      return "Jin and others 2004: their window with an empty queue, halved by losses";
    case Congestion::GridDt:
      return "Mathis and others 1997 with Grid DT's increase";
    case Congestion::Westwood:
    case Congestion::Paced:
      break;
  }
  return "";
}

std::optional<double> response_recovery(const Stream& s, double rate) {
  const CongestionLaw& row = congestion_law(s.control);
  if (!row.increase) return {};
  // Round trip by round trip, as the papers state their laws.
  WindowState state;
  state.rtt = s.rtt;
  state.reference_rtt = s.reference;
  const double full = rate * s.rtt / mss_of(s.mtu);
  state.window = row.decrease(state, full);
  double rounds = 0;
  for (; state.window < full && rounds < 1e8; ++rounds) {
    state.window += state.window * (s.delayed_acks ? 0.5 : 1) * row.increase(state);
    state.now += s.rtt;
  }
  return rounds * s.rtt;
}

bool is_compared(const ResponsePoint& point) noexcept {
  return point.accurate && point.closed_form && *point.closed_form < response_rate / 2 &&
         *point.closed_form * point.rtt > 8 * mss_of(1500);
}

std::vector<ResponsePoint> response_functions(double least) {
  std::vector<double> losses;
  for (int k = 0; std::pow(10, -3 - k / 2.0) >= 0.999 * least; ++k)
    losses.push_back(std::pow(10, -3 - k / 2.0));
  const auto some = [&](std::size_t parity) {
    std::vector<ResponsePoint> points;
    std::size_t number = 0;
    for (std::size_t c = 0; c < congestion_laws().size(); ++c)
      for (const double rtt : response_rtts)
        for (const double loss : losses)
          if (static_cast<Congestion>(c) != Congestion::Paced && number++ % 2 == parity)
            points.push_back(simulated_point(static_cast<Congestion>(c), rtt, loss));
    return points;
  };
  auto beside = run_beside([&] { return some(1); });
  const std::vector<ResponsePoint> even = some(0), odd = beside.get();
  std::vector<ResponsePoint> all;
  for (std::size_t k = 0; k < even.size() + odd.size(); ++k)
    all.push_back(k % 2 == 0 ? even[k / 2] : odd[k / 2]);
  return all;
}

std::string response_csv(const std::vector<ResponsePoint>& points) {
  std::string text =
      "congestion,rtt_seconds,loss,simulated_bytes_per_second,"
      "closed_form_bytes_per_second\n";
  for (const ResponsePoint& p : points)
    text += fmt::format("{},{:g},{:.6g},{:.6g},{}\n", congestion_name(p.control), p.rtt, p.loss,
                        p.simulated, p.closed_form ? fmt::format("{:.6g}", *p.closed_form) : "");
  return text;
}

}  // namespace gdr::predict
