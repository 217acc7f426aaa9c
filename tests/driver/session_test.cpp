// Sessions of several streams whose connections are cut, between two ends in this process.
#include "support/catch.hpp"

#ifdef GDR_TEST_NETWORK
#include <sys/socket.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <memory>
#include <random>
#include <vector>

#include "libgdr/network/session.hpp"
#include "libgdr/network/socket_options.hpp"
#include "support/iterations.hpp"

using gdr::network::Bytes;
using gdr::network::Connection;
using gdr::network::max_frame_bytes;
using gdr::network::Session;

namespace {

/// One end of a session, which checks what arrives against what the other end sends.
struct SessionEnd {
  explicit SessionEnd(asio::io_context& io)
      : session(std::make_shared<Session>(
            io, std::uint64_t{1} << 30,
            gdr::network::SessionEvents{
                [this](Bytes&& message) { arrived.push_back(std::move(message)); },
                [this](std::uint64_t number) { urgent.push_back(number); },
                [this](const std::string& reason) { end = reason; },
                [this](std::uint64_t bytes) { acknowledged += bytes; }})) {}

  std::shared_ptr<Session> session;
  std::vector<Bytes> sent, arrived;
  std::vector<std::uint64_t> urgent;
  std::uint64_t acknowledged = 0;
  std::string end;
};

/// Two ends, and connections of their streams, which are restored after each cut.
class CutSession {
 public:
  CutSession(unsigned streams, unsigned seed) : a(io_), b(io_), random_(seed) {
    for (SessionEnd* const e : {&a, &b}) e->session->add_streams(streams);
    connections_.resize(streams);
    for (unsigned k = 0; k < streams; ++k) asio::co_spawn(io_, keep(k), asio::detached);
  }
  ~CutSession() {
    closing_ = true;
    for (SessionEnd* const e : {&a, &b}) e->session->end("the test is over");
    io_.restart();
    io_.run_for(std::chrono::seconds(10));
  }

  /// Sends messages from both ends while connections are cut, until all have arrived.
  void exchange(unsigned messages, unsigned cuts) {
    asio::co_spawn(io_, cut(cuts), asio::detached);
    for (SessionEnd* const e : {&a, &b}) asio::co_spawn(io_, send(*e, messages), asio::detached);
    const auto done = [&](const SessionEnd& e, const SessionEnd& other) {
      return other.sent.size() == messages && e.arrived.size() == messages &&
             other.session->unsent_bytes() == 0;
    };
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!(cuts_ == cuts && done(a, b) && done(b, a)) &&
           std::chrono::steady_clock::now() < limit && a.end.empty() && b.end.empty())
      io_.run_for(std::chrono::milliseconds(1));
  }

  asio::io_context io_;
  SessionEnd a, b;

 private:
  struct Both {
    std::shared_ptr<Connection> a, b;
  };

  asio::awaitable<void> keep(unsigned stream) {
    while (!closing_) {
      asio::ip::tcp::acceptor acceptor(io_, {asio::ip::address_v4::loopback(), 0});
      asio::ip::tcp::socket first(io_);
      first.connect(acceptor.local_endpoint());
      Both& both = connections_[stream];
      both = {std::make_shared<Connection>(std::move(first), nullptr),
              std::make_shared<Connection>(acceptor.accept(), nullptr)};
      // Small buffers, so that frames are cut in the middle.
      const int size = 8192;
      for (Connection* const c : {both.a.get(), both.b.get()})
        setsockopt(c->socket().native_handle(), SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
      const std::uint64_t a_received = a.session->end_connection(stream),
                          b_received = b.session->end_connection(stream);
      asio::co_spawn(io_, follow(b.session, stream, both.b, a_received), asio::detached);
      const std::shared_ptr<Connection> connection = both.a;
      co_await a.session->run(stream, *connection, b_received);
      asio::steady_timer timer(io_, std::chrono::microseconds(random_() % 3000));
      co_await timer.async_wait(asio::use_awaitable);
    }
  }

  static asio::awaitable<void> follow(std::shared_ptr<Session> session, unsigned stream,
                                      std::shared_ptr<Connection> connection,
                                      std::uint64_t peer_received) {
    co_await session->run(stream, *connection, peer_received);
  }

  asio::awaitable<void> cut(unsigned count) {
    asio::steady_timer timer(io_);
    for (cuts_ = 0; cuts_ < count; ++cuts_) {
      timer.expires_after(std::chrono::microseconds(random_() % 2000));
      co_await timer.async_wait(asio::use_awaitable);
      Both& both = connections_[random_() % connections_.size()];
      if (both.a) (random_() % 2 == 0 ? both.a : both.b)->close();
    }
  }

  asio::awaitable<void> send(SessionEnd& from, unsigned messages) {
    asio::steady_timer timer(io_);
    for (unsigned k = 0; k < messages; ++k) {
      const std::size_t sizes[] = {0, random_() % 100, max_frame_bytes, 3 * max_frame_bytes,
                                   random_() % 1000000};
      Bytes bytes(sizes[random_() % 5]);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
      from.sent.push_back(bytes);
      from.session->send(std::move(bytes));
      if (random_() % 4 == 0) from.session->send_urgent(k);
      timer.expires_after(std::chrono::microseconds(random_() % 1000));
      co_await timer.async_wait(asio::use_awaitable);
    }
  }

  std::vector<Both> connections_;
  std::mt19937 random_;
  unsigned cuts_ = 0;
  bool closing_ = false;
};

std::uint64_t repeated_frames(const SessionEnd& e) {
  std::uint64_t sum = 0;
  for (unsigned k = 0; k < e.session->streams(); ++k) sum += e.session->counters(k).frames_repeated;
  return sum;
}

}  // namespace

TEST_CASE("messages arrive once and in order over streams whose connections are cut") {
  for (const unsigned streams : {1, 2, 7}) {
    CAPTURE(streams);
    CutSession session(streams, static_cast<unsigned>(gdr::test::first_seed()) + streams);
    session.exchange(100, 150);
    CHECK(session.a.end.empty());
    CHECK(session.b.end.empty());
    CHECK(session.b.arrived == session.a.sent);
    CHECK(session.a.arrived == session.b.sent);
    CHECK(repeated_frames(session.a) + repeated_frames(session.b) > 0);
    std::uint64_t bytes = 0;
    for (const Bytes& message : session.a.sent) bytes += message.size();
    CHECK(session.a.acknowledged == bytes);
  }
}
#endif
