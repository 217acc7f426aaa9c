#include "libgdr/predict/congestion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::predict {

namespace law {

double highspeed_decrease(double window) noexcept {
  if (window <= highspeed_low) return 0.5;
  // A tenth from the high window on, beyond which the line would become negative.
  return std::max(0.1, 0.5 + (0.1 - 0.5) * std::log(window / highspeed_low) /
                                 std::log(highspeed_high / highspeed_low));
}

double highspeed_increase(double window) noexcept {
  if (window <= highspeed_low) return 1;
  // The loss rate at which the response function has this window: a line through (38, 1e-3) and
  // (83000, 1e-7) in logarithms.
  static const double slope = std::log(1e-7 / 1e-3) / std::log(highspeed_high / highspeed_low);
  const double loss = 1e-3 * std::pow(window / highspeed_low, slope);
  const double b = highspeed_decrease(window);
  return std::max(1.0, window * window * loss * 2 * b / (2 - b));
}

double htcp_increase(double seconds) noexcept {
  constexpr double as_reno = 1;  // seconds
  const double more = seconds - as_reno;
  return more <= 0 ? 1 : 1 + 10 * more + more * more / 4;
}

}  // namespace law

namespace {

using namespace law;
using State = WindowState;

double reno_increase(const State& s) noexcept { return 1 / s.window; }
double half_of_flight(State&, double flight) noexcept { return 0.5 * flight; }

double highspeed_per_ack(const State& s) noexcept {
  return highspeed_increase(s.window) / s.window;
}
double highspeed_loss(State&, double flight) noexcept {
  return (1 - highspeed_decrease(flight)) * flight;
}

double scalable_per_ack(const State&) noexcept { return scalable_increase; }
double scalable_loss(State&, double flight) noexcept { return (1 - scalable_decrease) * flight; }

double htcp_per_ack(const State& s) noexcept {
  return 2 * (1 - s.share) * htcp_increase(s.now - s.loss) / s.window;
}
/// The share is that of the shortest in the longest round trip, which empties the queue and no
/// more; one half if the throughput has changed by a fifth, so that streams find equal shares.
double htcp_loss(State& s, double flight) noexcept {
  const double seconds = s.now - s.loss;
  const double throughput = seconds > 0 ? s.acknowledged / seconds : 0;
  const bool changed = std::abs(throughput - s.last_throughput) > 0.2 * s.last_throughput;
  s.last_throughput = throughput;
  s.share = changed || s.longest_rtt <= 0
                ? 0.5
                : std::clamp(s.rtt / s.longest_rtt, 0.5, htcp_largest_share);
  return s.share * flight;
}

/// Half of the way to the window of the last loss, within bounds; beyond it with steps that double.
double bic_per_ack(const State& s) noexcept {
  if (s.window < bic_low) return 1 / s.window;
  const double step = s.window < s.aim ? (s.aim - s.window) / 2 : s.window - s.aim + bic_least;
  return std::clamp(step, bic_least, bic_most) / s.window;
}
/// A window that is smaller than the one to which it grew back leaves room for others ("fast
/// convergence"): by more than the segment that a packet in flight may make, and compared, as in
/// Linux and RFC 9438, section 4.7, with the aim that an earlier loss may have reduced. RFC 8312
/// compares with the window itself; a stream whose losses are periodic then lowers its aim at each
/// other loss for ever.
double bic_loss(State& s, double flight) noexcept {
  if (flight < bic_low) {
    s.aim = s.peak = flight;
    return 0.5 * flight;
  }
  s.aim = flight < s.aim - 1 ? (1 - bic_decrease / 2) * flight : flight;
  s.peak = flight;
  return (1 - bic_decrease) * flight;
}

double westwood_loss(State& s, double flight) noexcept {
  return s.bandwidth > 0 ? std::min(flight, s.bandwidth * s.rtt) : 0.5 * flight;
}

/// RFC 9438, sections 4.2 to 4.5: towards the cubic's value a round trip later and at most 1.5
/// windows, where the cubic begins with the window that the loss left; but not below a stream with
/// Reno's share of the same losses, as a function of time (RFC 8312, section 4.2). The least step,
/// a hundredth of a segment, is that of Linux.
double cubic_per_ack(const State& s) noexcept {
  const double t = s.now - s.begin;
  const double k = std::cbrt(std::max(0.0, s.aim - cubic_share * s.peak) / cubic_scale);
  const double at = t + s.rtt - k;
  const double cubic = cubic_scale * at * at * at + s.aim;
  const double reno = cubic_share * s.peak + 3 * (1 - cubic_share) / (1 + cubic_share) * t / s.rtt;
  const double aim = std::min(std::max(cubic, reno), 1.5 * s.window);
  return std::max(aim - s.window, 0.01) / s.window;
}
double cubic_loss(State& s, double flight) noexcept {
  s.aim = flight < s.aim - 1 ? (1 + cubic_share) / 2 * flight : flight;
  s.peak = flight;
  return cubic_share * flight;
}

double griddt_per_ack(const State& s) noexcept {
  const double ratio = s.rtt / s.reference_rtt;
  return ratio * ratio / s.window;
}

constexpr std::array<CongestionLaw, 10> laws{{
    {"reno", "one segment for each round trip", "one half", "RFC 5681", reno_increase,
     half_of_flight},
    {"highspeed", "more segments for each round trip, the larger the window",
     "one half, nine tenths of large windows", "RFC 3649", highspeed_per_ack, highspeed_loss},
    {"scalable", "a hundredth of a segment for each acknowledgement", "seven eighths",
     "T. Kelly, Scalable TCP, 2003", scalable_per_ack, scalable_loss},
    {"htcp", "more segments for each round trip, the longer ago the last loss is",
     "the share of the shortest in the longest round trip, from 0.5 to 0.8",
     "Leith and Shorten, H-TCP, 2004", htcp_per_ack, htcp_loss, true},
    {"bic", "half of the way to the window of the last loss, from 0.01 to 32 segments",
     "seven eighths", "Xu, Harfoush and Rhee, 2004", bic_per_ack, bic_loss},
    {"westwood", "one segment for each round trip",
     "measured bandwidth times the shortest round trip", "Mascolo and others, 2001", reno_increase,
     westwood_loss, true},
    {"cubic", "a cubic of the time since the last loss, at least as Reno", "seven tenths",
     "RFC 9438", cubic_per_ack, cubic_loss},
    {"fast", "keeps some segments (backlog) in the queue, by the round trip that it measures",
     "one half", "Jin, Wei and Low, FAST TCP, 2004", nullptr, half_of_flight, true},
    {"griddt", "Reno's, times the square of the round trip over a common one (reference)",
     "one half", "S. Ravot and others, Grid DT, 2003", griddt_per_ack, half_of_flight},
    {"paced", "the largest; packets at a rate, or at an estimate of the available one", "the same",
     "this model's; Cardwell and others, BBR, 2016, for the estimate", nullptr, nullptr, true},
}};

}  // namespace

std::span<const CongestionLaw> congestion_laws() noexcept { return laws; }

const CongestionLaw& congestion_law(Congestion control) noexcept {
  return laws[static_cast<std::size_t>(control)];
}

std::string_view congestion_name(Congestion control) noexcept {
  return congestion_law(control).name;
}

Congestion parse_congestion(std::string_view name) {
  if (name == "delay") return Congestion::Fast;
  const auto found = std::ranges::find(laws, name, &CongestionLaw::name);
  if (found != laws.end()) return static_cast<Congestion>(found - laws.begin());
  std::vector<std::string_view> known;
  known.reserve(laws.size());
  for (const CongestionLaw& row : laws) known.push_back(row.name);
  throw Error(ErrorCategory::Usage, unknown_name("congestion control", name, known));
}

}  // namespace gdr::predict
