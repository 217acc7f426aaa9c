// The connections whose packets the relay has met.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "libgdr/relay/packet.hpp"

namespace gdr::relay {

/// Direction of a packet.
enum class Direction : std::size_t { ToServer, ToClient };

constexpr Direction opposite(Direction direction) noexcept {
  return direction == Direction::ToServer ? Direction::ToClient : Direction::ToServer;
}
constexpr std::size_t index_of(Direction direction) noexcept {
  return static_cast<std::size_t>(direction);
}

/// What an end of a TCP connection has sent so far.
struct SentState {
  std::optional<std::uint32_t> initial;          ///< sequence number of the SYN
  std::optional<std::uint32_t> end;              ///< sequence number after the last byte
  std::optional<std::uint32_t> acknowledgement;  ///< the last acknowledgement
  bool finished = false;                         ///< a FIN or RST was sent
};

/// Packets in both directions with the same protocol, addresses and ports. A connection that uses
/// the ports of an earlier one is a flow of its own.
struct Flow {
  std::uint8_t protocol = 0;
  Endpoint client, server;
  std::array<SentState, 2> sent;  ///< state of each direction
  std::size_t port = 0;           ///< index of the port of the relay that carries it
  bool cut = false;               ///< whether the relay has cut the connection
  bool resets = false;            ///< whether the relay answers packets with RST

  /// Whether this is a TCP connection that neither end has closed.
  bool open() const noexcept;
};

/// All flows of a run; indices remain valid.
class FlowTable {
 public:
  /// The flow of a packet, updated by what its sender has sent.
  std::size_t update(Direction direction, const PacketFields& packet);

  std::size_t size() const noexcept { return flows_.size(); }
  Flow& operator[](std::size_t index) { return flows_[index]; }
  const Flow& operator[](std::size_t index) const { return flows_[index]; }

 private:
  std::map<std::tuple<std::uint8_t, Endpoint, Endpoint>, std::size_t> current_;
  std::vector<Flow> flows_;
};

}  // namespace gdr::relay
