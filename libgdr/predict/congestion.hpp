// Laws of congestion control: how a window grows with acknowledgements, and what a loss leaves.
#pragma once

#include <span>
#include <string_view>

namespace gdr::predict {

/// How a stream chooses its window and the times of its packets.
enum class Congestion {
  Reno,
  HighSpeed,
  Scalable,
  HTcp,
  Bic,
  Westwood,
  Cubic,
  Fast,
  GridDt,
  Paced
};

/// What the laws know of a stream. Windows are counted in segments, times in seconds.
struct WindowState {
  double window = 2;
  double rtt = 0.1;            ///< round trip without queues
  double reference_rtt = 0.1;  ///< GridDt: the round trip at which a stream grows as Reno
  double now = 0;
  double begin = 0;            ///< begin of the growth since the last loss
  double loss = 0;             ///< time of the last loss
  double longest_rtt = 0;      ///< measured since the last loss
  double acknowledged = 0;     ///< segments since the last loss
  double bandwidth = 0;        ///< Westwood: estimate, segments/s
  double aim = 0;              ///< Bic, Cubic: the window at the last loss, less for convergence
  double peak = 0;             ///< Bic, Cubic: the window at the last loss
  double last_throughput = 0;  ///< HTcp: segments/s before the last loss
  double share = 0.5;          ///< HTcp: share of the window that the last loss left
};

/// A row of the table of laws.
struct CongestionLaw {
  std::string_view name;
  std::string_view growth, after_loss;  ///< rules in words
  std::string_view source;
  /// Segments by which the window grows with an acknowledgement, after slow start; null for laws
  /// that change the window once a round trip (Fast, Paced).
  double (*increase)(const WindowState&) noexcept;
  /// The window after a loss that was noticed with so many segments in flight.
  double (*decrease)(WindowState&, double flight) noexcept;
  bool measures = false;  ///< whether the law uses measured round trips
};

/// All laws, in the order of Congestion.
std::span<const CongestionLaw> congestion_laws() noexcept;
const CongestionLaw& congestion_law(Congestion control) noexcept;

/// The name of a law, as in the system's table where Linux has it.
std::string_view congestion_name(Congestion control) noexcept;
/// Throws Error (Usage) with the nearest known name. "delay" is an earlier name of "fast".
Congestion parse_congestion(std::string_view name);

/// Constants that closed forms use, too.
namespace law {
inline constexpr double scalable_increase = 0.01, scalable_decrease = 0.125;
/// RFC 3649: below `low` segments as Reno; `high` segments at a loss rate of 1e-7, of which a loss
/// takes a tenth.
inline constexpr double highspeed_low = 38, highspeed_high = 83000;
/// Share of the window that a loss takes, and segments by which a round trip increases it.
double highspeed_decrease(double window) noexcept;
double highspeed_increase(double window) noexcept;
/// Segments for each round trip, t seconds after a loss, before the factor 2 (1 - share).
double htcp_increase(double seconds) noexcept;
inline constexpr double htcp_largest_share = 0.8;
/// Xu, Harfoush and Rhee: share that a loss takes, bounds of the increase in a round trip, and the
/// window below which the law is Reno's.
inline constexpr double bic_decrease = 0.125, bic_most = 32, bic_least = 0.01, bic_low = 14;
inline constexpr double cubic_scale = 0.4, cubic_share = 0.7;
/// Weight of a new measurement in FAST's window.
inline constexpr double fast_weight = 0.5;
}  // namespace law

}  // namespace gdr::predict
