// Rules that drop packets, or reset connections, by address and time.
#pragma once

#include <optional>
#include <string_view>

#include "libgdr/relay/flows.hpp"
#include "libgdr/relay/link.hpp"

namespace gdr::relay {

/// A rule matches a packet whose sender and receiver have these addresses and ports, 0 standing for
/// any, and that arrives at the relay in a time.
struct Rule {
  bool reset = false;  ///< the connection is cut and both ends get RST; otherwise packets vanish
  Endpoint source, destination;
  std::optional<Direction> direction;  ///< nothing: both
  Time from{};                         ///< beginning of the time, after the first packet
  Time until = Time::max();            ///< end of the time

  bool matches(Direction way, const PacketFields& packet, Time since_start) const noexcept;
};

/// `drop` or `reset`, then words `from=HOST[:PORT]`, `to=HOST[:PORT]`, `direction=server|client`,
/// `after=TIME`, `until=TIME`, in any order; HOST is an IPv4 address, or `*`. Throws Error (Usage).
Rule parse_rule(std::string_view text);

}  // namespace gdr::relay
