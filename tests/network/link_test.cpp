// The model of a link: rate, delay, queue, loss and the order of transmission.
#include "libgdr/relay/link.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "support/catch.hpp"
#include "support/expect_error.hpp"

using namespace gdr::relay;
using namespace std::chrono_literals;

namespace {

constexpr Time never = std::chrono::hours(24);

Packet packet_of(std::size_t size, std::size_t flow = 0, unsigned number = 0) {
  Packet packet{std::vector<std::byte>(size), flow};
  for (std::size_t k = 0; k < 4 && k < size; ++k)
    packet.bytes[k] = static_cast<std::byte>(number >> 8 * k);
  return packet;
}

unsigned number_of(const Packet& packet) {
  unsigned number = 0;
  for (std::size_t k = 0; k < 4; ++k) number |= std::to_integer<unsigned>(packet.bytes[k]) << 8 * k;
  return number;
}

/// All packets that arrive, with the due time of each: a link is asked at exactly these times.
std::vector<std::pair<Time, unsigned>> arrivals(Link& link) {
  std::vector<std::pair<Time, unsigned>> list;
  while (const std::optional<Time> due = link.next_delivery())
    if (const std::optional<Packet> packet = link.deliver(*due))
      list.emplace_back(*due, number_of(*packet));
  return list;
}

LinkOptions options_of(double rate, Time delay, std::uint64_t queue = 1'000'000'000) {
  LinkOptions options;
  options.rate = rate;
  options.delay = delay;
  options.queue_bytes = queue;
  return options;
}

}  // namespace

TEST_CASE("a packet arrives after its transmission time and the delay") {
  Link link(options_of(1e9, 100ms));
  link.offer(packet_of(9000), 5ms);
  CHECK(link.next_delivery() == 5ms + 72us + 100ms);
  CHECK_FALSE(link.deliver(105ms + 72us - 1ns));
  CHECK(link.deliver(105ms + 72us));
  CHECK_FALSE(link.next_delivery());
}

TEST_CASE("packets that arrive together are transmitted one after the other") {
  Link link(options_of(8e6, 1s));  // 1 byte in a microsecond
  for (unsigned k = 0; k < 4; ++k) link.offer(packet_of(100 * (k + 1), 0, k), 0s);
  const auto list = arrivals(link);
  REQUIRE(list.size() == 4);
  CHECK(list[0] == std::pair{Time(1s + 100us), 0U});
  CHECK(list[1] == std::pair{Time(1s + 300us), 1U});
  CHECK(list[2] == std::pair{Time(1s + 600us), 2U});
  CHECK(list[3] == std::pair{Time(1s + 1000us), 3U});
  CHECK(link.total().throughput() == Approx(1000 * 8 / 900e-6));
}

TEST_CASE("a link is idle between packets that are further apart than their transmission") {
  Link link(options_of(8e6, 0s));
  link.offer(packet_of(100), 0s);
  link.offer(packet_of(100), 150us);
  link.offer(packet_of(100), 170us);
  const auto list = arrivals(link);
  REQUIRE(list.size() == 3);
  CHECK(list[1].first == Time(250us));
  CHECK(list[2].first == Time(350us));
}

TEST_CASE("a packet that finds no space in the queue is dropped") {
  Link link(options_of(8e6, 0s, 250));
  // The first one is transmitted, two wait, the fourth has no space.
  for (unsigned k = 0; k < 4; ++k) link.offer(packet_of(100, 0, k), 0s);
  CHECK(link.total().overflowed.packets == 1);
  CHECK(link.total().overflowed.bytes == 100);
  CHECK(link.total().queue_max == 200);
  // A small packet still fits; the next large one does after a transmission.
  link.offer(packet_of(50, 0, 4), 10us);
  CHECK(link.total().queue_max == 250);
  link.offer(packet_of(100, 0, 5), 100us);
  CHECK(link.total().overflowed.packets == 1);
  std::vector<unsigned> numbers;
  for (const auto& [time, number] : arrivals(link)) numbers.push_back(number);
  CHECK(numbers == std::vector<unsigned>{0, 1, 2, 4, 5});
  CHECK(link.total().queued_bytes == 0);
}

TEST_CASE("a link without a queue carries packets that find it idle") {
  Link link(options_of(8e6, 0s, 0));
  link.offer(packet_of(100), 0s);
  link.offer(packet_of(100), 99us);
  link.offer(packet_of(100), 100us);
  CHECK(link.total().overflowed.packets == 1);
  CHECK(arrivals(link).size() == 2);
}

TEST_CASE(
    "the lost packets depend on seed and direction only, and have the requested probability") {
  const auto lost = [](std::uint64_t seed, Sequence sequence, double loss, Time gap) {
    LinkOptions options = options_of(1e9, 1ms);
    options.loss = loss;
    options.seed = seed;
    options.loss_sequence = sequence;
    Link link(options);
    constexpr unsigned packets = 20000;
    std::vector<bool> missing(packets, true);
    for (unsigned k = 0; k < packets; ++k) link.offer(packet_of(1500, k % 3, k), k * gap);
    for (const auto& [time, number] : arrivals(link)) missing[number] = false;
    CHECK(link.total().lost.packets ==
          static_cast<std::uint64_t>(std::count(missing.begin(), missing.end(), true)));
    CHECK(link.total().delivered.packets + link.total().lost.packets == packets);
    return missing;
  };
  const std::vector<bool> first = lost(1, LossToServer, 0.01, 3us);
  CHECK(first == lost(1, LossToServer, 0.01, 50us));
  CHECK(first != lost(2, LossToServer, 0.01, 3us));
  CHECK(first != lost(1, LossToClient, 0.01, 3us));
  for (const double loss : {0.0, 0.01, 0.3, 1.0}) {
    const std::vector<bool> missing = lost(7, LossToServer, loss, 3us);
    const auto count = static_cast<double>(std::count(missing.begin(), missing.end(), true));
    CHECK(std::abs(count - 20000 * loss) <= 5 * std::sqrt(20000 * loss * (1 - loss)));
  }
}

TEST_CASE("a lost packet occupies the link like any other") {
  LinkOptions options = options_of(8e6, 0s);
  options.loss = 0.5;
  Link link(options);
  for (unsigned k = 0; k < 100; ++k) link.offer(packet_of(100, 0, k), 0s);
  for (const auto& [time, number] : arrivals(link)) CHECK(time == (number + 1) * Time(100us));
  CHECK(link.total().lost.packets > 20);
}

TEST_CASE("a link gives the same arrivals however often it is asked") {
  std::mt19937_64 random(5);
  for (const Discipline discipline : {Discipline::Fifo, Discipline::RoundRobin}) {
    LinkOptions options = options_of(1e9, 3ms, 20000);
    options.loss = 0.02;
    options.discipline = discipline;
    Link exact(options), asked(options);
    std::vector<unsigned> expected, found;
    Time now{};
    for (unsigned k = 0; k < 5000; ++k) {
      now += Time(static_cast<std::int64_t>(random() % 12000));
      const std::size_t size = 40 + random() % 1461, flow = random() % 5;
      exact.offer(packet_of(size, flow, k), now);
      asked.offer(packet_of(size, flow, k), now);
      if (random() % 3 != 0) continue;
      while (const std::optional<Packet> packet = asked.deliver(now))
        found.push_back(number_of(*packet));
    }
    for (const auto& [time, number] : arrivals(exact)) expected.push_back(number);
    while (const std::optional<Packet> packet = asked.deliver(never))
      found.push_back(number_of(*packet));
    CHECK(found == expected);
    CHECK(exact.total().overflowed.packets == asked.total().overflowed.packets);
    CHECK(exact.total().overflowed.packets > 0);
    CHECK(exact.total().last_delivery == asked.total().last_delivery);
  }
}

TEST_CASE("round-robin transmits one packet of each waiting flow in turn") {
  LinkOptions options = options_of(8e6, 0s);
  options.discipline = Discipline::RoundRobin;
  Link link(options);
  // Flow 0 has sent all of its packets before the others send one.
  for (unsigned k = 0; k < 4; ++k) link.offer(packet_of(100, 0, k), 0s);
  for (unsigned k = 0; k < 3; ++k) link.offer(packet_of(100, 1, 10 + k), 10us);
  for (unsigned k = 0; k < 2; ++k) link.offer(packet_of(100, 2, 20 + k), 20us);
  std::vector<unsigned> numbers;
  for (const auto& [time, number] : arrivals(link)) numbers.push_back(number);
  CHECK(numbers == std::vector<unsigned>{0, 1, 10, 20, 2, 11, 21, 3, 12});
}

TEST_CASE("round-robin gives equal shares to flows that always have packets, whatever they send") {
  LinkOptions options = options_of(1e9, 10ms, 100'000);
  options.discipline = Discipline::RoundRobin;
  Link link(options);
  // Flow k sends at (k + 1) times its share of a quarter.
  for (Time now{}; now < 100ms; now += 72us)
    for (std::size_t flow = 0; flow < 4; ++flow)
      for (std::size_t k = 0; k <= flow; ++k) link.offer(packet_of(9000, flow), now);
  while (link.deliver(100ms)) {
  }
  for (std::size_t flow = 0; flow < 4; ++flow)
    CHECK(static_cast<double>(link.flow(flow).delivered.bytes) ==
          Approx(static_cast<double>(link.total().delivered.bytes) / 4).epsilon(0.02));
  // Each flow has a queue of its own, so that it cannot use up the space of another one.
  CHECK(link.flow(0).queue_max <= 100'000);
  CHECK(link.flow(3).overflowed.packets > link.flow(0).overflowed.packets);
}

TEST_CASE("a flow is removed from queue and line without effect on the others") {
  LinkOptions options = options_of(8e6, 1ms);
  for (const Discipline discipline : {Discipline::Fifo, Discipline::RoundRobin}) {
    options.discipline = discipline;
    Link link(options);
    for (unsigned k = 0; k < 20; ++k) link.offer(packet_of(100, k % 2, k), 0s);
    CHECK_FALSE(link.deliver(500us));  // some packets are on their way, the others wait
    link.remove(1);
    CHECK(link.flow(1).cut.packets == 10);
    CHECK(link.total().queued_bytes == link.flow(0).queued_bytes);
    for (const auto& [time, number] : arrivals(link)) CHECK(number % 2 == 0);
    CHECK(link.flow(0).delivered.packets == 10);
    CHECK(link.flow(1).delivered.packets == 0);
    link.offer(packet_of(100, 1), 1s);
    CHECK(arrivals(link).size() == 1);
  }
}

TEST_CASE("options out of range are refused") {
  const auto refused = [](const std::string& word, auto change) {
    LinkOptions options;
    change(options);
    gdr::test::expect_error(gdr::ErrorCategory::Usage, {word}, [&] { Link{options}; });
  };
  refused("rate", [](LinkOptions& options) { options.rate = 0; });
  refused("rate", [](LinkOptions& options) { options.rate = std::nan(""); });
  refused("delay", [](LinkOptions& options) { options.delay = -1ns; });
  refused("delay", [](LinkOptions& options) { options.delay = 1h; });
  refused("loss", [](LinkOptions& options) { options.loss = 1.1; });
  refused("loss", [](LinkOptions& options) { options.loss = std::nan(""); });
}
