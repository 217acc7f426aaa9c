// Two links, the connections on them, and connections cut at random: everything of the relay but
// devices and clocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>

#include "network/relay/flows.hpp"
#include "network/relay/link.hpp"

namespace gdr::relay {

/// When connections are cut, and how.
struct CutOptions {
  /// Mean time between two cuts of all connections, exponentially distributed, from the first
  /// packet on; nothing: no cuts.
  std::optional<Time> mean_time;
  /// Each connection is cut after a number of delivered bytes (both directions, IP headers
  /// included), uniform between 0 and twice this mean; 0: no cuts.
  std::uint64_t mean_bytes = 0;
  /// Most cuts of a run. A cut without an open connection does not count.
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  /// How long packets disappear before both ends get RST; nothing: for ever.
  std::optional<Time> reset_after = Time::zero();
  std::uint64_t seed = 1;  ///< seed of times and bytes
};

/// A packet that has arrived, and the direction in which it went.
struct Arrival {
  Direction direction;
  Packet packet;
};

/// The relay as a function of the packets that it receives and their times.
class Router {
 public:
  /// Options of the links by direction. Throws gdr::Error (Usage) if one is out of range.
  Router(const std::array<LinkOptions, 2>& links, const CutOptions& cuts);

  /// A packet arrives from one end. Packets other than IPv4 are ignored. Times must not decrease.
  void receive(Direction direction, std::span<const std::byte> packet, Time now);
  /// The next packet that has arrived by this time, on its way or as a reset of a cut connection.
  std::optional<Arrival> next(Time now);
  /// When `next` may have something to do; nothing if only another packet can change that.
  std::optional<Time> next_event() const;

  const Link& link(Direction direction) const { return links_[index_of(direction)]; }
  const FlowTable& flows() const noexcept { return flows_; }
  /// Number of cuts so far; one that cuts several connections counts once.
  std::uint64_t cuts() const noexcept { return cuts_; }
  /// Number of packets that were not IPv4.
  std::uint64_t ignored() const noexcept { return ignored_; }

 private:
  struct Silence {
    Time end;
    std::size_t flow;
  };

  void run_cuts(Time now);
  bool cut(std::size_t flow, Time now);
  void cut_by_bytes(std::size_t flow, Time now);
  void draw_cut_time();
  void reset(std::size_t flow, Direction to);

  std::array<Link, 2> links_;
  CutOptions options_;
  FlowTable flows_;
  std::deque<Arrival> resets_;
  std::deque<Silence> silences_;  // in the order of their ends
  std::optional<Time> next_cut_;  // nothing before the first packet, and after the last cut
  std::uint64_t drawn_times_ = 0;
  std::uint64_t cuts_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace gdr::relay
