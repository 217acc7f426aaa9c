// Rules, periodic losses, ports that merge on a line, and the log of packets.
#include "libgdr/relay/rules.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "libgdr/relay/capture.hpp"
#include "libgdr/relay/proxy.hpp"
#include "libgdr/relay/report.hpp"
#include "libgdr/relay/router.hpp"
#include "libgdr/relay/settings.hpp"
#include "libgdr/relay/units.hpp"
#include "network/packet_bytes.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

using namespace gdr::relay;
using namespace network_test;
using namespace std::chrono_literals;

namespace {

constexpr auto server_way = Direction::ToServer, client_way = Direction::ToClient;

std::size_t arrivals_until(Router& router, Time until) {
  std::size_t count = 0;
  for (std::optional<Time> due; (due = router.next_event()) && *due <= until;)
    while (router.next(std::max(*due, Time::zero()))) ++count;
  return count;
}

Segment segment_to(std::uint16_t port, std::uint32_t sequence = 1) {
  Segment segment;
  segment.destination_port = port;
  segment.sequence = sequence;
  return segment;
}

}  // namespace

TEST_CASE("a rule drops packets of its addresses in its time only") {
  RouterOptions options;
  options.rules = {parse_rule("drop from=10.77.0.1 to=*:5000 after=1s until=2s")};
  Router router(options);
  for (const auto& [time, arrives] : {std::pair(0s, 1U), {1s, 0U}, {2s, 1U}, {3s, 1U}}) {
    router.receive(server_way, segment_to(5000).bytes(), time);
    CHECK(arrivals_until(router, time + 900ms) == arrives);
  }
  router.receive(server_way, segment_to(5001).bytes(), 4s);
  router.receive(client_way, segment_to(5000).answer().bytes(), 4s);
  CHECK(arrivals_until(router, 5s) == 2);
  CHECK(router.link(server_way).total().cut.packets == 1);
}

TEST_CASE("a rule that resets cuts the connection, and both ends get RST") {
  RouterOptions options;
  options.rules = {parse_rule("reset to=*:5000 after=1s direction=server")};
  Router router(options);
  router.receive(server_way, segment_to(5000).bytes(), 0s);
  router.receive(client_way, segment_to(5000).answer().bytes(), 0s);
  CHECK(arrivals_until(router, 500ms) == 2);
  router.receive(server_way, segment_to(5000, 2).bytes(), 1s);
  std::size_t resets = 0;
  while (const std::optional<Arrival> arrival = router.next(1100ms))
    resets += parse_packet(arrival->packet.bytes)->tcp->rst ? 1 : 0;
  CHECK(resets == 2);
  CHECK(router.flows()[0].cut);
}

TEST_CASE("rules that cannot be read are refused") {
  for (const char* text :
       {"", "lose", "drop to", "drop to=host", "drop to=1.2.3.4:0", "drop to=1.2.3.4:x",
        "reset after=3", "reset after=3s until=2s", "drop direction=up", "drop to=*:70000"})
    gdr::test::expect_error(gdr::ErrorCategory::Usage, {}, [&] { parse_rule(text); });
}

TEST_CASE("each packet with a multiple of the period is lost") {
  LinkOptions options;
  options.period = 3;
  Link link(options);
  std::vector<std::size_t> arrived;
  for (std::size_t k = 0; k < 10; ++k) {
    link.offer({std::vector<std::byte>(100 + k), 0, {}}, Time(k * 1'000'000));
    while (const std::optional<Packet> packet = link.deliver(Time((k + 1) * 1'000'000)))
      arrived.push_back(packet->bytes.size() - 100);
  }
  CHECK(arrived == std::vector<std::size_t>{0, 1, 3, 4, 6, 7, 9});
  CHECK(link.total().lost.packets == 3);
}

TEST_CASE("streams of two ports leave the common line packet by packet in turn") {
  RouterOptions options;
  options.ports.assign(2, LinkPair{});
  for (LinkOptions& link : options.ports[1]) link.delay = 5ms;
  options.line = LinkPair{};
  for (LinkOptions& link : *options.line) {
    link.rate = 8e6;
    link.discipline = Discipline::RoundRobin;
  }
  Router router(options);
  for (std::uint32_t k = 0; k < 40; ++k)
    for (const std::uint16_t port : {first_port, static_cast<std::uint16_t>(first_port + 1)}) {
      Segment segment = segment_to(port, 1 + 960 * k);
      segment.source_port = static_cast<std::uint16_t>(40000 + port - first_port);
      segment.payload = 960;  // a millisecond on the line
      router.receive(server_way, segment.bytes(), 0s);
    }
  std::vector<std::size_t> order;
  for (Time now{}; now < 200ms; now += 500us)
    while (const std::optional<Arrival> arrival = router.next(now))
      order.push_back(router.flows()[arrival->packet.flow].port);
  REQUIRE(order.size() == 80);
  // The second port's packets come 5 ms later; then both have their turns until the first ends.
  for (std::size_t k = 8; k < 70; k += 2) CHECK(order[k] != order[k + 1]);
  CHECK(router.line(server_way)->total().delivered.packets == 80);
  CHECK(router.link(server_way, 1).total().delivered.packets == 40);
  CHECK(router.delivered(server_way, 0).delivered.packets == 40);
}

TEST_CASE("a line loses packets of a port that has lost some before, and time goes on") {
  RouterOptions options;
  options.ports.assign(3, LinkPair{});
  options.line = LinkPair{};
  for (LinkPair& port : options.ports) port[0].period = 2;
  (*options.line)[0].period = 5;
  Router router(options);
  for (std::uint32_t k = 0; k < 60; ++k)
    router.receive(server_way,
                   segment_to(static_cast<std::uint16_t>(first_port + k % 3), k).bytes(),
                   Time(k * 1'000'000));
  CHECK(arrivals_until(router, 10s) == 24);  // 60 / 2 * 4 / 5
  CHECK_FALSE(router.next_event());
}

TEST_CASE("counts of a stream contain its losses, full queues and waiting bytes on the line") {
  RouterOptions options;
  options.line = LinkPair{};
  options.ports[0][0].period = 10;
  LinkOptions& line = (*options.line)[0];
  line.rate = 8e6;
  line.period = 4;
  line.queue_bytes = 10'000;
  Router router(options);
  for (std::uint32_t k = 0; k < 30; ++k) {
    Segment segment = segment_to(first_port, 1 + 960 * k);
    segment.payload = 960;  // a millisecond on the line, which has one of two packets
    router.receive(server_way, segment.bytes(), Time(k * 500'000));
  }
  while (router.next(14500us)) {
  }
  LiveTable table;
  const std::string waiting = table.text(router, 14500us);
  const Counts& queued = router.line(server_way)->flow(0);
  REQUIRE(queued.queued_bytes > 0);
  REQUIRE(queued.overflowed.packets > 0);
  REQUIRE(queued.lost.packets > 0);
  CHECK(waiting.find(std::to_string(queued.queued_bytes / 1000) + "." +
                     std::to_string(queued.queued_bytes / 100 % 10)) != std::string::npos);
  CHECK(arrivals_until(router, 1s) > 0);
  const Counts& on_port = router.link(server_way).flow(0);
  const nlohmann::json report = json_report(router, {});
  const nlohmann::json& counts = report["flows"][0]["to_server"];
  const auto packets = [&](const char* name) {
    return counts[name]["packets"].get<std::uint64_t>();
  };
  CHECK(packets("offered") == 30);
  CHECK(on_port.lost.packets == 3);
  CHECK(packets("lost") == 3 + queued.lost.packets);
  CHECK(packets("overflowed") == queued.overflowed.packets);
  CHECK(packets("delivered") == queued.delivered.packets);
  CHECK(packets("offered") == packets("delivered") + packets("lost") + packets("overflowed"));
  CHECK(counts["bits_per_second"].get<double>() < 8.1e6);
  CHECK(counts["queue_max_bytes"] == queued.queue_max);
}

TEST_CASE("a log of packets has the blocks of the format") {
  const gdr::test::TemporaryFolder folder;
  const std::string file = folder.path() + "/log.pcapng";
  {
    Capture capture(file, std::chrono::system_clock::time_point(2s), 64);
    capture.write(client_way, std::vector<std::byte>(99, std::byte{7}), 3ns);
    capture.close();
  }
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t k = 4; k-- > 0;)
      value = value << 8 | static_cast<unsigned char>(bytes.at(at + k));
    return value;
  };
  CHECK(word(0) == 0x0a0d0d0a);
  CHECK(word(8) == 0x1a2b3c4d);
  std::size_t at = word(4);
  for (int k = 0; k < 2; ++k) {
    CHECK(word(at) == 1);
    CHECK(word(at + 8) == 101);
    at += word(at + 4);
  }
  CHECK(word(at) == 6);
  CHECK(word(at + 8) == 1);
  CHECK((std::uint64_t{word(at + 12)} << 32 | word(at + 16)) == 2'000'000'003);
  CHECK(word(at + 20) == 64);
  CHECK(word(at + 24) == 99);
  CHECK(bytes.size() == at + word(at + 4));
  gdr::test::expect_error(gdr::ErrorCategory::Io, {"cannot write"},
                          [&] { Capture(folder.path() + "/no/file", {}, 64); });
}

TEST_CASE("a log that cannot be written is an error while packets arrive, not only at the end") {
  Capture capture("/dev/full", {}, 9000);
  const std::vector<std::byte> packet(9000);
  gdr::test::expect_error(gdr::ErrorCategory::Io, {"/dev/full", "--capture"}, [&] {
    for (int k = 0; k < 100; ++k) capture.write(server_way, packet, Time(k));
  });
}

TEST_CASE("addresses have ports from 1 to 65535 or names of services") {
  Route route;
  resolve("127.0.0.1:65535", route);
  CHECK(reinterpret_cast<const sockaddr_in&>(route.target).sin_port == 0xffff);
  resolve("[::1]:80", route);
  CHECK(route.target.ss_family == AF_INET6);
  for (const char* text :
       {"127.0.0.1:70000", "127.0.0.1:65536", "127.0.0.1:0", "127.0.0.1:-1", "127.0.0.1:+80",
        "127.0.0.1: 80", "127.0.0.1:99999999999999999999", "127.0.0.1:", "127.0.0.1", ":80"})
    gdr::test::expect_error(gdr::ErrorCategory::Usage, {text, "HOST:PORT"},
                            [&] { resolve(text, route); });
}

TEST_CASE("a port in use is an error of input and output, not of a system without namespaces") {
  Route any;
  reinterpret_cast<sockaddr_in&>(any.target).sin_family = AF_INET;
  reinterpret_cast<sockaddr_in&>(any.target).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  any.size = sizeof(sockaddr_in);
  const File listener = listen_at(any, "any port");
  Route used;
  used.size = sizeof(used.target);
  REQUIRE(::getsockname(listener.descriptor(), reinterpret_cast<sockaddr*>(&used.target),
                        &used.size) == 0);
  gdr::test::expect_error(gdr::ErrorCategory::Io, {"cannot listen on", "the port"},
                          [&] { listen_at(used, "the port"); });
}

TEST_CASE("numbers with units are read as a whole, or refused") {
  CHECK(parse_amount("rate", "1.5G") == 1.5e9);
  CHECK(parse_amount("rate", "64k") == 64e3);
  CHECK(parse_time("rtt", "200ms") == 200ms);
  CHECK(parse_time("rtt", "0s") == 0s);
  for (const char* text : {"", "k", "1T", "-1", "1 k", "nan", "1e400", "1kk"})
    gdr::test::expect_error(gdr::ErrorCategory::Usage, {"rate"},
                            [&] { parse_amount("rate", text); });
  for (const char* text : {"5", "-1s", "1h", "s", "1e30s"})
    gdr::test::expect_error(gdr::ErrorCategory::Usage, {"rtt"}, [&] { parse_time("rtt", text); });
  gdr::test::expect_error(gdr::ErrorCategory::Usage, {"more than two"},
                          [] { parse_pair("rate", "1,2,3"); });
}

TEST_CASE("ports have the links of the file but for their own values, and seeds of their own") {
  const gdr::test::TemporaryFolder folder;
  const std::string file = folder.path() + "/relay.json";
  std::ofstream(file) << R"({"rate": "10M,5M", "rtt": "20ms", "seed": 4,
      "ports": [{"listen": "127.0.0.1:1", "forward": "127.0.0.1:2"},
                {"listen": "127.0.0.1:3", "forward": "127.0.0.1:4", "delay": "400ms", "loss": 0.5}],
      "line": {"rate": "1M"}, "rule": ["drop to=*:9", "reset to=*:8"]})";
  Settings settings;
  apply_file(settings, file);
  const RouterOptions options = router_options(settings);
  REQUIRE(options.ports.size() == 2);
  CHECK(options.ports[0][0].rate == 10e6);
  CHECK(options.ports[0][1].rate == 5e6);
  CHECK(options.ports[0][0].delay == 10ms);
  CHECK(options.ports[1][1].delay == 400ms);
  CHECK(options.ports[1][0].loss == 0.5);
  CHECK(options.ports[0][0].seed != options.ports[1][0].seed);
  REQUIRE(options.line);
  CHECK((*options.line)[0].discipline == Discipline::RoundRobin);
  CHECK(options.rules.size() == 2);
  settings.ports.resize(6);
  gdr::test::expect_error(gdr::ErrorCategory::Usage, {"five"}, [&] { router_options(settings); });
  settings.server = "true";
  gdr::test::expect_error(gdr::ErrorCategory::Usage, {"not both"},
                          [&] { router_options(settings); });
}

namespace {

RouterOptions options_of_file(const std::string& text,
                              const std::vector<std::pair<std::string, std::string>>& more = {}) {
  const gdr::test::TemporaryFolder folder;
  const std::string file = folder.path() + "/relay.json";
  std::ofstream(file) << text;
  Settings settings;
  apply_file(settings, file);
  for (const auto& [name, value] : more)
    std::ranges::find(setting_table(), name, &SettingInfo::name)->set(settings, value);
  return router_options(settings);
}

}  // namespace

TEST_CASE("forward in a file has the links of that file, whatever the order of the names") {
  const RouterOptions options = options_of_file(
      R"({"forward": ["127.0.0.1:1=127.0.0.1:2", "127.0.0.1:3=127.0.0.1:4"], "rtt": "300ms",
          "loss": 0.25, "queue": "9k", "rate": "3M"})");
  REQUIRE(options.ports.size() == 2);
  for (const LinkPair& port : options.ports)
    for (const LinkOptions& link : port) {
      CHECK(link.delay == 150ms);
      CHECK(link.loss == 0.25);
      CHECK(link.queue_bytes == 9000);
      CHECK(link.rate == 3e6);
    }
}

TEST_CASE("options replace the file's values in its ports and line, but not their own values") {
  const RouterOptions options =
      options_of_file(R"({"rate": "10M", "rtt": "20ms", "rule": "drop to=*:9",
          "ports": [{"listen": "127.0.0.1:1", "forward": "127.0.0.1:2"},
                    {"listen": "127.0.0.1:3", "forward": "127.0.0.1:4", "rtt": "60ms"}],
          "line": {"queue": "7k"}})",
                      {{"rate", "2M"},
                       {"rtt", "40ms"},
                       {"loss", "0.5"},
                       {"queue", "5k"},
                       {"rule", "reset to=*:8"},
                       {"forward", "127.0.0.1:5=127.0.0.1:6"}});
  REQUIRE(options.ports.size() == 3);
  REQUIRE(options.line);
  CHECK(options.rules.size() == 2);
  for (std::size_t way = 0; way < 2; ++way) {
    for (const LinkPair& port : options.ports) {
      CHECK(port[way].rate == 2e6);
      CHECK(port[way].loss == 0.5);
      CHECK(port[way].queue_bytes == 5000);
    }
    CHECK(options.ports[0][way].delay == 20ms);
    CHECK(options.ports[1][way].delay == 30ms);
    CHECK(options.ports[2][way].delay == 20ms);
    CHECK((*options.line)[way].rate == 2e6);
    CHECK((*options.line)[way].queue_bytes == 7000);
  }
}

TEST_CASE("a line does not repeat the delay and the losses of the ports") {
  const std::string ports =
      R"("ports": [{"listen": "127.0.0.1:1", "forward": "127.0.0.1:2"}],
         "rate": "10M", "rtt": "20ms", "loss": 0.5, "loss-period": 7, )";
  const LinkPair line = *options_of_file("{" + ports + R"("line": {}})").line;
  for (const LinkOptions& link : line) {
    CHECK(link.rate == 10e6);
    CHECK(link.delay == 0s);
    CHECK(link.loss == 0);
    CHECK(link.period == 0);
    CHECK(link.discipline == Discipline::RoundRobin);
  }
  const LinkPair own =
      *options_of_file("{" + ports + R"("line": {"rtt": "6ms", "loss": 0.1, "loss-period": 3}})")
           .line;
  CHECK(own[1].delay == 3ms);
  CHECK(own[1].loss == 0.1);
  CHECK(own[1].period == 3);
  const auto merge = [&](const std::string& text) {
    return (*options_of_file("{" + ports + text + "}").line)[0].discipline;
  };
  CHECK(merge(R"("merge": "fifo", "line": {})") == Discipline::Fifo);
  CHECK(merge(R"("merge": "fifo", "line": {"merge": "round-robin"})") == Discipline::RoundRobin);
  CHECK(merge(R"("line": {"merge": "fifo"})") == Discipline::Fifo);
}

TEST_CASE("wrong settings of the relay are refused with the name of the setting") {
  const auto refuse = [](const char* name, const char* text, const char* word) {
    const auto info = std::ranges::find(setting_table(), name, &SettingInfo::name);
    REQUIRE(info != setting_table().end());
    gdr::test::expect_error(gdr::ErrorCategory::Usage, {std::string(name) + ": ", word}, [&] {
      Settings settings;
      apply_setting(settings, *info, text);
    });
  };
  refuse("step", "101ms", "100ms");
  refuse("loss-period", "0.5", "whole number");
  refuse("loss-period", "1.0005k", "whole number");
  refuse("loss-period", "1,2.5", "whole number");
  refuse("rate", "", "number with its unit");
  refuse("rule", "drop to=*:1 after=-1s", "after");
  refuse("rule", "lose to=*:1", "drop or reset");
  Settings settings;
  apply_setting(settings, *std::ranges::find(setting_table(), "loss-period", &SettingInfo::name),
                "1.5k");
  CHECK(router_options(settings).ports[0][0].period == 1500);
}

TEST_CASE("a folder instead of a configuration file is an error of input and output") {
  const gdr::test::TemporaryFolder folder;
  Settings settings;
  gdr::test::expect_error(gdr::ErrorCategory::Io, {"cannot read", folder.path()},
                          [&] { apply_file(settings, folder.path()); });
}
