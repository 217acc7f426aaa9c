// Headers of IPv4 packets that carry TCP (RFC 791, RFC 9293), as far as the relay needs them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gdr::relay {

/// Address and port of an end of a connection, in the byte order of the host. The port is 0 for
/// protocols other than TCP and UDP.
struct Endpoint {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  auto operator<=>(const Endpoint&) const = default;
};

/// "10.77.0.1:5000"
std::string to_string(const Endpoint& endpoint);

/// The fields of a TCP header that the state of a connection depends on.
struct TcpFields {
  std::uint32_t sequence = 0;         ///< sequence number of the first byte
  std::uint32_t end = 0;              ///< sequence number after the last byte, SYN and FIN
  std::uint32_t acknowledgement = 0;  ///< next byte that the sender expects, if `ack`
  bool syn = false, ack = false, fin = false, rst = false;
};

/// The fields of an IPv4 packet.
struct PacketFields {
  std::uint8_t protocol = 0;  ///< 6: TCP, 17: UDP
  Endpoint source, destination;
  std::optional<TcpFields> tcp;  ///< nothing for other protocols, and for later fragments
};

/// Reads the headers of a packet; nothing if it is not IPv4, or shorter than its headers say.
std::optional<PacketFields> parse_packet(std::span<const std::byte> packet);

/// A packet of 40 bytes with the flags RST and ACK: the receiver accepts it if `sequence` is the
/// next byte that it expects (RFC 5961, section 3.2) or, while it connects, if `acknowledgement` is
/// the number after its SYN.
std::vector<std::byte> reset_packet(const Endpoint& source, const Endpoint& destination,
                                    std::uint32_t sequence, std::uint32_t acknowledgement);

}  // namespace gdr::relay
