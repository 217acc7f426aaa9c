// Packets for tests, written field by field without the code of the relay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace network_test {

constexpr unsigned fin = 1, syn = 2, rst = 4, ack = 16;

/// An IPv4 packet with a TCP segment, without checksums.
struct Segment {
  std::uint32_t source = 0x0a4d0001, destination = 0x0a4d0002;
  std::uint16_t source_port = 40000, destination_port = 5000;
  std::uint32_t sequence = 0, acknowledgement = 0;
  unsigned flags = ack;
  std::size_t payload = 0;
  unsigned ip_options = 0, tcp_options = 0;  // words of 4 bytes

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> out;
    const auto put = [&](std::uint64_t value, int size) {
      for (int k = size - 1; k >= 0; --k) out.push_back(static_cast<std::byte>(value >> 8 * k));
    };
    const std::size_t header = 20 + 4 * ip_options, tcp = 20 + 4 * tcp_options;
    put(0x40 + header / 4, 1), put(0, 1), put(header + tcp + payload, 2);
    put(0, 4), put(64, 1), put(6, 1), put(0, 2), put(source, 4), put(destination, 4);
    for (unsigned k = 0; k < ip_options; ++k) put(0x01010101, 4);  // no operation
    put(source_port, 2), put(destination_port, 2), put(sequence, 4), put(acknowledgement, 4);
    put(tcp / 4 << 4, 1), put(flags, 1), put(0xffff, 2), put(0, 4);
    for (unsigned k = 0; k < tcp_options; ++k) put(0x01010101, 4);
    out.resize(header + tcp + payload);
    return out;
  }

  /// The same from the other end.
  Segment answer() const {
    Segment other = *this;
    other.source = destination, other.destination = source;
    other.source_port = destination_port, other.destination_port = source_port;
    other.sequence = acknowledgement, other.acknowledgement = sequence;
    other.payload = 0;
    return other;
  }
};

}  // namespace network_test
