// Headers of packets, and the RST that ends a cut connection.
#include "libgdr/relay/packet.hpp"

#include <random>

#include "network/packet_bytes.hpp"
#include "support/catch.hpp"

using namespace gdr::relay;
using namespace network_test;

namespace {

/// Sum of 16-bit words in one's complement arithmetic: 0xffff if a checksum among them is right.
unsigned ones_complement_sum(const std::vector<unsigned>& words) {
  unsigned sum = 0;
  for (const unsigned word : words) {
    sum += word;
    if (sum > 0xffff) sum -= 0xffff;
  }
  return sum;
}

unsigned half(const std::vector<std::byte>& bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]) * 256 + std::to_integer<unsigned>(bytes[at + 1]);
}

}  // namespace

TEST_CASE("the fields of a TCP packet are read, with options in both headers") {
  Segment segment;
  segment.sequence = 0xfffffff0;
  segment.acknowledgement = 77;
  segment.payload = 100;
  segment.ip_options = 2;
  segment.tcp_options = 3;
  const std::optional<PacketFields> fields = parse_packet(segment.bytes());
  REQUIRE(fields);
  REQUIRE(fields->tcp);
  CHECK(to_string(fields->source) == "10.77.0.1:40000");
  CHECK(to_string(fields->destination) == "10.77.0.2:5000");
  CHECK(fields->tcp->sequence == 0xfffffff0);
  CHECK(fields->tcp->end == 84);  // modulo 2^32
  CHECK(fields->tcp->acknowledgement == 77);
  CHECK(fields->tcp->ack);
  CHECK_FALSE((fields->tcp->syn || fields->tcp->fin || fields->tcp->rst));
}

TEST_CASE("SYN and FIN use a sequence number") {
  Segment segment;
  segment.sequence = 10;
  segment.flags = syn;
  CHECK(parse_packet(segment.bytes())->tcp->end == 11);
  segment.flags = fin | ack;
  segment.payload = 5;
  CHECK(parse_packet(segment.bytes())->tcp->end == 16);
}

TEST_CASE("packets that are not complete IPv4 packets are refused, and random bytes do no harm") {
  const std::vector<std::byte> whole = Segment{}.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(parse_packet(std::span(whole).first(size)));
  CHECK(parse_packet(whole));
  std::vector<std::byte> six = whole;
  six[0] = std::byte{0x65};
  CHECK_FALSE(parse_packet(six));
  std::mt19937_64 random(3);
  for (int k = 0; k < 20000; ++k) {
    std::vector<std::byte> bytes = whole;
    bytes.resize(random() % 80);
    for (int change = 0; change < 4 && !bytes.empty(); ++change)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    parse_packet(bytes);
  }
}

TEST_CASE("later fragments and other protocols have no TCP fields") {
  std::vector<std::byte> fragment = Segment{}.bytes();
  fragment[7] = std::byte{1};  // offset of 8 bytes
  REQUIRE(parse_packet(fragment));
  CHECK_FALSE(parse_packet(fragment)->tcp);
  std::vector<std::byte> datagram = Segment{}.bytes();
  datagram[9] = std::byte{17};
  REQUIRE(parse_packet(datagram));
  CHECK_FALSE(parse_packet(datagram)->tcp);
  CHECK(parse_packet(datagram)->source.port == 40000);
}

TEST_CASE("an RST has the given numbers and valid checksums") {
  std::mt19937_64 random(9);
  for (int k = 0; k < 200; ++k) {
    const Endpoint source{static_cast<std::uint32_t>(random()),
                          static_cast<std::uint16_t>(random())};
    const Endpoint destination{static_cast<std::uint32_t>(random()),
                               static_cast<std::uint16_t>(random())};
    const auto sequence = static_cast<std::uint32_t>(random());
    const auto acknowledgement = static_cast<std::uint32_t>(random());
    const std::vector<std::byte> bytes =
        reset_packet(source, destination, sequence, acknowledgement);
    const std::optional<PacketFields> fields = parse_packet(bytes);
    REQUIRE(fields);
    REQUIRE(fields->tcp);
    CHECK(fields->source == source);
    CHECK(fields->destination == destination);
    CHECK((fields->tcp->rst && fields->tcp->ack && !fields->tcp->syn && !fields->tcp->fin));
    CHECK(fields->tcp->sequence == sequence);
    CHECK(fields->tcp->acknowledgement == acknowledgement);
    std::vector<unsigned> header, segment{6, 20};  // protocol and length
    for (std::size_t at = 0; at < 20; at += 2) header.push_back(half(bytes, at));
    for (std::size_t at = 12; at < 40; at += 2) segment.push_back(half(bytes, at));
    CHECK(ones_complement_sum(header) == 0xffff);
    CHECK(ones_complement_sum(segment) == 0xffff);
  }
}
