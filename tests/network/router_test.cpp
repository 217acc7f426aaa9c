// Flows of packets, and connections that are cut.
#include "libgdr/relay/router.hpp"

#include "network/packet_bytes.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"

using namespace gdr::relay;
using namespace network_test;
using namespace std::chrono_literals;

namespace {

constexpr auto to_server = Direction::ToServer, to_client = Direction::ToClient;

std::array<LinkOptions, 2> links_of(Time delay) {
  std::array<LinkOptions, 2> links;
  for (LinkOptions& link : links) link.delay = delay;
  return links;
}

/// The packets that arrive until a time.
std::vector<std::pair<Direction, TcpFields>> arrivals(Router& router, Time until) {
  std::vector<std::pair<Direction, TcpFields>> list;
  for (std::optional<Time> due; (due = router.next_event()) && *due <= until;) {
    const Time now = std::max(*due, Time::zero());
    while (const std::optional<Arrival> arrival = router.next(now)) {
      const std::optional<PacketFields> fields = parse_packet(arrival->packet.bytes);
      REQUIRE(fields);
      REQUIRE(fields->tcp);
      list.emplace_back(arrival->direction, *fields->tcp);
    }
  }
  while (const std::optional<Arrival> arrival = router.next(until))
    list.emplace_back(arrival->direction, *parse_packet(arrival->packet.bytes)->tcp);
  return list;
}

Segment connect_segment(std::uint16_t port, std::uint32_t sequence = 1000) {
  Segment segment;
  segment.source_port = port;
  segment.flags = syn;
  segment.sequence = sequence;
  return segment;
}

/// The handshake of a connection, whose ends then expect bytes 1001 (server) and 9001 (client).
void connect(Router& router, std::uint16_t port, Time now) {
  router.receive(to_server, connect_segment(port).bytes(), now);
  Segment accept = connect_segment(port, 1001).answer();
  accept.flags = syn | ack;
  accept.sequence = 9000;
  router.receive(to_client, accept.bytes(), now);
  Segment last = accept.answer();
  last.flags = ack;
  last.acknowledgement = 9001;
  router.receive(to_server, last.bytes(), now);
}

Segment data_segment(std::uint16_t port, std::size_t size, std::uint32_t sequence = 1001) {
  Segment segment;
  segment.source_port = port;
  segment.sequence = sequence;
  segment.acknowledgement = 9001;
  segment.payload = size;
  return segment;
}

}  // namespace

TEST_CASE("packets of both directions with the same ports are one flow") {
  Router router(links_of(1ms), {});
  connect(router, 40000, 0s);
  connect(router, 40001, 1ms);
  CHECK(arrivals(router, 1s).size() == 6);
  REQUIRE(router.flows().size() == 2);
  CHECK(to_string(router.flows()[0].client) == "10.77.0.1:40000");
  CHECK(to_string(router.flows()[1].client) == "10.77.0.1:40001");
  CHECK(router.link(to_server).flow(0).delivered.packets == 2);
  CHECK(router.link(to_client).flow(1).delivered.packets == 1);
}

TEST_CASE("packets that are not IPv4 are ignored and counted") {
  Router router(links_of(1ms), {});
  router.receive(to_server, std::vector<std::byte>(60), 0s);
  CHECK(router.ignored() == 1);
  CHECK_FALSE(router.next_event());
}

TEST_CASE("a connection with the ports of a closed one is another flow") {
  Router router(links_of(1ms), {});
  connect(router, 40000, 0s);
  router.receive(to_server, connect_segment(40000).bytes(), 1ms);  // a repeated SYN
  CHECK(router.flows().size() == 1);
  for (const Direction direction : {to_server, to_client}) {
    Segment end = data_segment(40000, 0);
    if (direction == to_client) end = end.answer();
    end.flags = fin | ack;
    router.receive(direction, end.bytes(), 2ms);
  }
  CHECK_FALSE(router.flows()[0].open());
  router.receive(to_server, connect_segment(40000, 5000).bytes(), 3ms);
  CHECK(router.flows().size() == 2);
}

TEST_CASE("a cut drops the packets on their way, and both ends get the RST that they accept") {
  CutOptions cuts;
  cuts.mean_bytes = 1;  // after at most one byte
  Router router(links_of(10ms), cuts);
  router.receive(to_server, connect_segment(40000).bytes(), 0s);
  Segment accept = connect_segment(40000, 1001).answer();
  accept.flags = syn | ack;
  accept.sequence = 9000;
  router.receive(to_client, accept.bytes(), 5ms);
  // The SYN arrives, which cuts the connection, and drops the answer.
  const auto list = arrivals(router, 1s);
  REQUIRE(list.size() == 3);
  CHECK(list[0].second.syn);
  CHECK(router.cuts() == 1);
  CHECK(router.link(to_client).total().cut.packets == 1);
  for (std::size_t k : {std::size_t{1}, std::size_t{2}}) {
    CHECK(list[k].second.rst);
    const bool server = list[k].first == to_server;
    CHECK(list[k].second.sequence == (server ? 1001 : 0));  // the client expects no number yet
    CHECK(list[k].second.acknowledgement == (server ? 9001 : 1001));
  }
}

TEST_CASE("packets of a cut connection get an RST with the number that their sender expects") {
  CutOptions cuts;
  cuts.mean_time = 1ms;
  cuts.limit = 1;
  Router router(links_of(10ms), cuts);
  connect(router, 40000, 0s);
  arrivals(router, 1s);
  REQUIRE(router.cuts() == 1);
  Segment late = data_segment(40000, 500, 1001);
  late.acknowledgement = 9777;
  router.receive(to_server, late.bytes(), 2s);
  const auto list = arrivals(router, 3s);
  REQUIRE(list.size() == 1);
  CHECK(list[0].first == to_client);
  CHECK((list[0].second.rst && list[0].second.sequence == 9777));
  CHECK(list[0].second.acknowledgement == 1501);
  // An RST gets no answer, and a new connection with the same ports is carried.
  Segment end = late;
  end.flags = rst | ack;
  router.receive(to_server, end.bytes(), 4s);
  CHECK(arrivals(router, 5s).empty());
  router.receive(to_server, connect_segment(40000, 70000).bytes(), 6s);
  CHECK(arrivals(router, 7s).size() == 1);
  CHECK(router.flows().size() == 2);
}

TEST_CASE("packets of a cut connection disappear without an answer before the reset, or for ever") {
  CutOptions cuts;
  cuts.mean_time = 1ms;
  cuts.limit = 1;
  for (const bool resets : {true, false}) {
    cuts.reset_after.reset();
    if (resets) cuts.reset_after = 5s;
    Router router(links_of(10ms), cuts);
    connect(router, 40000, 0s);
    router.receive(to_server, data_segment(40000, 100).bytes(), 1s);
    router.receive(to_server, connect_segment(40000).bytes(), 2s);  // a SYN that is repeated
    CHECK(router.cuts() == 1);
    CHECK(arrivals(router, 4s).empty());
    const auto list = arrivals(router, 10s);
    CHECK(list.size() == (resets ? 2U : 0U));
    for (const auto& [direction, fields] : list) CHECK(fields.rst);
  }
}

TEST_CASE("cuts by time follow the seed, with the requested mean and number") {
  const auto times = [](std::uint64_t seed) {
    CutOptions cuts;
    cuts.mean_time = 50ms;
    cuts.limit = 400;
    cuts.seed = seed;
    Router router(links_of(0ms), cuts);
    std::vector<Time> list;
    std::uint16_t port = 1000;
    // Connections start again within 1 ms of their end.
    for (Time now{}; now < 100s; now += 1ms) {
      if (router.cuts() > list.size()) list.push_back(now);
      if (router.flows().size() == 0 || router.flows()[router.flows().size() - 1].cut)
        connect(router, ++port, now);
      arrivals(router, now);
    }
    return list;
  };
  const std::vector<Time> first = times(1);
  CHECK(first.size() == 400);
  CHECK(first == times(1));
  CHECK(first != times(2));
  // The standard deviation of the mean of 400 exponential numbers is 1/20.
  CHECK(std::chrono::duration<double>(first.back()).count() == Approx(400 * 0.05).epsilon(0.2));
}

TEST_CASE("cuts by bytes end a connection at a point that depends on the seed") {
  const auto delivered = [](std::uint64_t seed) {
    CutOptions cuts;
    cuts.mean_bytes = 100'000;
    cuts.seed = seed;
    Router router(links_of(1ms), cuts);
    std::vector<std::uint64_t> list;
    for (std::uint16_t port = 1; port <= 50; ++port) {
      connect(router, port, port * 1s);
      for (unsigned k = 0; k < 300; ++k) {
        const Time now = port * 1s + k * 1ms;
        router.receive(to_server, data_segment(port, 1000, 1001 + 1000 * k).bytes(), now);
        arrivals(router, now);
      }
      list.push_back(router.link(to_server).flow(port - 1U).delivered.bytes);
    }
    CHECK(router.cuts() == 50);
    return list;
  };
  const std::vector<std::uint64_t> first = delivered(1);
  CHECK(first == delivered(1));
  CHECK(first != delivered(2));
  double sum = 0;
  for (const std::uint64_t bytes : first) {
    CHECK(bytes <= 201'100);
    sum += static_cast<double>(bytes);
  }
  CHECK(sum / 50 == Approx(100'000).epsilon(0.3));
}

TEST_CASE("a mean time between cuts near zero is refused") {
  CutOptions cuts;
  cuts.mean_time = 10us;
  gdr::test::expect_error(gdr::ErrorCategory::Usage, {"time between cuts"},
                          [&] { Router(links_of(1ms), cuts); });
}
