// Ports with two links each, the line on which they merge, the connections on them, and connections
// cut at random or by rules: everything of the relay but devices and clocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "libgdr/relay/flows.hpp"
#include "libgdr/relay/link.hpp"
#include "libgdr/relay/rules.hpp"

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

/// Options of a link in each direction.
using LinkPair = std::array<LinkOptions, 2>;

/// Ports of the relay in the network between the hosts.
inline constexpr std::size_t max_ports = 5;
/// Packets to or from this TCP port of the server and the next ones belong to ports 0, 1, ...
inline constexpr std::uint16_t first_port = 7701;

struct RouterOptions {
  /// Links by port. With one port it carries all packets; with several, those of other TCP ports
  /// belong to the first.
  std::vector<LinkPair> ports{LinkPair{}};
  /// A line that packets of all ports take after the link of their port; usually round-robin.
  std::optional<LinkPair> line;
  CutOptions cuts;
  std::vector<Rule> rules;  ///< the first that matches a packet applies
};

/// The relay as a function of the packets that it receives and their times.
class Router {
 public:
  /// Throws gdr::Error (Usage) if an option is out of range.
  explicit Router(const RouterOptions& options);
  /// One port without line and rules.
  Router(const LinkPair& links, const CutOptions& cuts)
      : Router(RouterOptions{{links}, {}, cuts, {}}) {}

  /// A packet arrives from one end. Packets other than IPv4 are ignored. Times must not decrease.
  void receive(Direction direction, std::span<const std::byte> packet, Time now);
  /// The next packet that has arrived by this time, on its way or as a reset of a cut connection.
  std::optional<Arrival> next(Time now);
  /// When `next` may have something to do; nothing if only another packet can change that.
  std::optional<Time> next_event() const;

  std::size_t ports() const noexcept { return ports_.size(); }
  const Link& link(Direction direction, std::size_t port = 0) const {
    return ports_[port][index_of(direction)];
  }
  /// Null without a line.
  const Link* line(Direction direction) const {
    return line_.empty() ? nullptr : &line_[index_of(direction)];
  }
  /// What a flow delivered at the end of its way.
  const Counts& delivered(Direction direction, std::size_t flow) const;
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
  void merge(Time now);
  const Rule* rule_for(Direction direction, const PacketFields& packet, Time now);
  bool cut(std::size_t flow, Time now, std::optional<Time> reset_after);
  void cut_by_bytes(std::size_t flow, Time now);
  void draw_cut_time();
  void reset(std::size_t flow, Direction to);

  std::vector<std::array<Link, 2>> ports_;
  std::vector<Link> line_;  // by direction, or none
  CutOptions options_;
  std::vector<Rule> rules_;
  std::optional<Time> first_packet_;
  FlowTable flows_;
  std::deque<Arrival> resets_;
  std::deque<Silence> silences_;  // in the order of their ends
  std::optional<Time> next_cut_;  // nothing before the first packet, and after the last cut
  std::uint64_t drawn_times_ = 0;
  std::uint64_t cuts_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace gdr::relay
