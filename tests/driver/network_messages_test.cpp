// Messages between hosts: what is sent arrives, and malformed messages are errors.
#include <cstring>
#include <random>

#include "driver/server_process.hpp"
#include "libgdr/network/messages.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::network;

namespace {

ListMessage some_list() {
  ListMessage m;
  m.number = 17;
  m.flags = list_resume | list_wait;
  for (unsigned k = 0; k < 3; ++k) {
    Command& c = m.list.commands.emplace_back();
    c.kind = CommandKind::WriteMemory;
    c.chips = 1;
    c.address = 100 * k;
    c.count = k + 1;
    c.payload = m.list.payload.size();
    m.list.payload.insert(m.list.payload.end(), k + 1, 7 * k);
  }
  return m;
}

Bytes encoded(const ListMessage& m) {
  return encode_list(m.number, m.flags, m.list, std::vector<std::uint64_t>{1, 2, 3});
}

Reply some_reply() {
  Reply r;
  r.number = 3;
  r.status = ReplyStatus::Failed;
  r.category = 2;
  r.counts.chip_clocks = 12345;
  r.counts.flops = 1e9;
  r.engine.fast_runs = 7;
  r.engine.reason = "a reason";
  r.busy_seconds = 0.25;
  r.message = "a message";
  r.results = {1, 2, 3};
  return r;
}

/// Changes, cuts or extends a message.
Bytes changed(Bytes m, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      m.resize(random() % (m.size() + 1));
      break;
    case 1:
      m.resize(m.size() + 1 + random() % 64);
      break;
    default:
      for (unsigned n = 0; n < 1 + random() % 4; ++n) {
        const std::size_t word = random() % (m.size() / 8);
        const std::uint64_t values[] = {random(), ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                        std::uint64_t{1} << (random() % 64)};
        std::memcpy(m.data() + 8 * word, &values[random() % 4], 8);
      }
  }
  return m;
}

}  // namespace

TEST_CASE("command lists and replies are sent between hosts without loss") {
  const ListMessage sent = some_list();
  const ListMessage got = decode_list(encoded(sent));
  CHECK(got.number == sent.number);
  CHECK(got.flags == sent.flags);
  CHECK(got.list.commands == sent.list.commands);
  CHECK(got.list.payload == sent.list.payload);
  const Reply reply = some_reply(), back = decode_reply(encode_reply(reply));
  CHECK(back.number == reply.number);
  CHECK(back.status == reply.status);
  CHECK(back.category == reply.category);
  CHECK(back.counts == reply.counts);
  CHECK(back.engine.fast_runs == reply.engine.fast_runs);
  CHECK(back.engine.reason == reply.engine.reason);
  CHECK(back.busy_seconds == reply.busy_seconds);
  CHECK(back.message == reply.message);
  CHECK(back.results == reply.results);
}

TEST_CASE("malformed messages between hosts are errors") {
  std::mt19937_64 random(11);
  const Bytes list = encoded(some_list()), reply = encode_reply(some_reply());
  unsigned refused = 0;
  for (int k = 0; k < 2000; ++k) {
    try {
      const ListMessage m = decode_list(changed(list, random));
      for (const Command& c : m.list.commands) REQUIRE(c.payload <= m.list.payload.size());
    } catch (const Error&) {
      ++refused;
    }
    try {
      decode_reply(changed(reply, random));
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 1500);
  CHECK_THROWS_AS(decode_list({}), Error);
  CHECK_THROWS_AS(decode_reply({}), Error);
}
