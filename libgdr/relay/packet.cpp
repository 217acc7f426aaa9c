#include "libgdr/relay/packet.hpp"

#include <fmt/format.h>

namespace gdr::relay {
namespace {

constexpr std::uint8_t tcp_protocol = 6, udp_protocol = 17;
constexpr unsigned fin_flag = 1, syn_flag = 2, rst_flag = 4, ack_flag = 16;
constexpr std::size_t ip_header = 20, tcp_header = 20;  // bytes, without options

using Bytes = std::span<const std::byte>;

std::uint8_t byte_at(Bytes bytes, std::size_t at) {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

std::uint16_t half_at(Bytes bytes, std::size_t at) {
  return static_cast<std::uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}

std::uint32_t word_at(Bytes bytes, std::size_t at) {
  return static_cast<std::uint32_t>(half_at(bytes, at)) << 16 | half_at(bytes, at + 2);
}

void put_half(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value);
}

void put_word(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  put_half(bytes, at, value >> 16);
  put_half(bytes, at + 2, value);
}

/// Sum of 16-bit words, as in the checksums of IP and TCP (RFC 1071), before the complement.
std::uint32_t word_sum(Bytes bytes) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 2) sum += half_at(bytes, at);
  return sum;
}

std::uint32_t checksum(std::uint32_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

TcpFields tcp_fields(Bytes segment) {
  TcpFields fields;
  const unsigned flags = byte_at(segment, 13);
  fields.syn = (flags & syn_flag) != 0;
  fields.ack = (flags & ack_flag) != 0;
  fields.fin = (flags & fin_flag) != 0;
  fields.rst = (flags & rst_flag) != 0;
  fields.sequence = word_at(segment, 4);
  fields.acknowledgement = word_at(segment, 8);
  const std::size_t header = std::size_t{4} * (byte_at(segment, 12) >> 4);
  const std::size_t payload = segment.size() > header ? segment.size() - header : 0;
  fields.end = fields.sequence + static_cast<std::uint32_t>(payload) +
               static_cast<std::uint32_t>(fields.syn) + static_cast<std::uint32_t>(fields.fin);
  return fields;
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  const std::uint32_t a = endpoint.address;
  return fmt::format("{}.{}.{}.{}:{}", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255,
                     endpoint.port);
}

std::optional<PacketFields> parse_packet(Bytes packet) {
  if (packet.size() < ip_header || byte_at(packet, 0) >> 4 != 4) return std::nullopt;
  const std::size_t header = std::size_t{4} * (byte_at(packet, 0) & 15);
  const std::size_t total = half_at(packet, 2);
  if (header < ip_header || total < header || total > packet.size()) return std::nullopt;
  PacketFields fields;
  fields.protocol = byte_at(packet, 9);
  fields.source.address = word_at(packet, 12);
  fields.destination.address = word_at(packet, 16);
  const bool first_fragment = (half_at(packet, 6) & 0x1fff) == 0;
  const Bytes body = packet.subspan(header, total - header);
  if (!first_fragment) return fields;
  if ((fields.protocol == tcp_protocol && body.size() >= tcp_header) ||
      (fields.protocol == udp_protocol && body.size() >= 8)) {
    fields.source.port = half_at(body, 0);
    fields.destination.port = half_at(body, 2);
  }
  if (fields.protocol == tcp_protocol && body.size() >= tcp_header) fields.tcp = tcp_fields(body);
  return fields;
}

std::vector<std::byte> reset_packet(const Endpoint& source, const Endpoint& destination,
                                    std::uint32_t sequence, std::uint32_t acknowledgement) {
  std::vector<std::byte> packet(ip_header + tcp_header);
  packet[0] = std::byte{0x45};
  put_half(packet, 2, static_cast<std::uint32_t>(packet.size()));
  packet[8] = std::byte{64};  // time to live
  packet[9] = std::byte{tcp_protocol};
  put_word(packet, 12, source.address);
  put_word(packet, 16, destination.address);
  put_half(packet, 10, checksum(word_sum(Bytes(packet).first(ip_header))));
  put_half(packet, ip_header, source.port);
  put_half(packet, ip_header + 2, destination.port);
  put_word(packet, ip_header + 4, sequence);
  put_word(packet, ip_header + 8, acknowledgement);
  packet[ip_header + 12] = std::byte{(tcp_header / 4) << 4};
  packet[ip_header + 13] = std::byte{rst_flag | ack_flag};
  // The sum includes addresses, protocol and length.
  const std::uint32_t sum =
      word_sum(Bytes(packet).subspan(12)) + tcp_protocol + static_cast<std::uint32_t>(tcp_header);
  put_half(packet, ip_header + 16, checksum(sum));
  return packet;
}

}  // namespace gdr::relay
