// Connections of a session, plain and with TLS, between two ends in this process.
#include "support/catch.hpp"

#ifdef GDR_TEST_NETWORK
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <memory>
#include <random>
#include <vector>

#include "libgdr/network/connection.hpp"

using gdr::network::Buffers;
using gdr::network::Connection;
using gdr::network::Progress;
using gdr::network::Wait;

namespace {

/// Two ends of a connection on this host. TLS needs no credentials here, which another test has.
class Ends {
 public:
  explicit Ends(bool tls) : context_(asio::ssl::context::tls) {
    SSL_CTX_set_max_proto_version(context_.native_handle(), TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(context_.native_handle(), "ADH-AES128-GCM-SHA256:@SECLEVEL=0");
    SSL_CTX_set_dh_auto(context_.native_handle(), 1);
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    asio::ip::tcp::socket first(io);
    first.connect(acceptor.local_endpoint());
    a = std::make_unique<Connection>(std::move(first), tls ? &context_ : nullptr);
    b = std::make_unique<Connection>(acceptor.accept(), tls ? &context_ : nullptr);
    spawn(a->handshake(asio::ssl::stream_base::client));
    spawn(b->handshake(asio::ssl::stream_base::server));
    run();
  }

  void spawn(asio::awaitable<void> work) {
    ++running_;
    asio::co_spawn(io, std::move(work), [this](const std::exception_ptr& e) {
      --running_;
      if (e) std::rethrow_exception(e);
    });
  }
  /// Runs until all that was spawned has ended.
  void run() {
    io.restart();
    io.run_for(std::chrono::seconds(60));
    REQUIRE(running_ == 0);
  }

  asio::io_context io;
  std::unique_ptr<Connection> a, b;

 private:
  asio::ssl::context context_;
  int running_ = 0;
};

std::vector<std::byte> random_bytes(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> all(n);
  for (std::byte& byte : all) byte = static_cast<std::byte>(random());
  return all;
}

asio::awaitable<void> write_from(Connection& to, const std::vector<std::byte>& all,
                                 std::size_t done) {
  while (done < all.size()) {
    const Progress p = to.write_now({asio::buffer(all), {}}, done);
    done += p.bytes;
    if (p.wait != Wait::None) co_await to.ready(p.wait);
  }
}

asio::awaitable<void> read_all(Connection& from, std::vector<std::byte>& all) {
  co_await from.read(all.data(), all.size());
}

/// Two buffers at a time, of any sizes.
asio::awaitable<void> write_in_pieces(Connection& to, const std::vector<std::byte>& all,
                                      std::mt19937& random) {
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t n = std::min<std::size_t>(random() % 50000, all.size() - at);
    const std::size_t first = n > 0 ? random() % (n + 1) : 0;
    co_await to.write(
        {asio::buffer(all.data() + at, first), asio::buffer(all.data() + at + first, n - first)});
    at += n;
  }
}

asio::awaitable<void> read_in_pieces(Connection& from, std::vector<std::byte>& all,
                                     std::mt19937& random) {
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t n = std::min<std::size_t>(1 + random() % 40000, all.size() - at);
    if (from.take(all.data() + at, n)) {
      at += n;
    } else if (random() % 2 == 0) {
      at += co_await from.read_some(all.data() + at, n);
    } else {
      co_await from.read(all.data() + at, n);
      at += n;
    }
  }
}

}  // namespace

TEST_CASE("a connection whose other end does not read takes bytes without waiting") {
  for (const bool tls : {false, true}) {
    CAPTURE(tls);
    Ends ends(tls);
    const std::vector<std::byte> sent = random_bytes(std::size_t{64} << 20, 1);
    std::vector<std::byte> received(sent.size());
    const Progress p = ends.a->write_now({asio::buffer(sent), {}}, 0);
    CHECK(p.wait == Wait::Writable);
    CHECK(p.bytes < sent.size());
    const Progress next = ends.a->write_now({asio::buffer(sent), {}}, p.bytes);
    CHECK(next.wait == Wait::Writable);
    ends.spawn(write_from(*ends.a, sent, p.bytes + next.bytes));
    ends.spawn(read_all(*ends.b, received));
    ends.run();
    CHECK(received == sent);
  }
}

TEST_CASE("both directions of a connection carry pieces of any sizes at the same time") {
  for (const bool tls : {false, true}) {
    CAPTURE(tls);
    Ends ends(tls);
    std::mt19937 random(2);
    const std::vector<std::byte> there = random_bytes(5 << 20, 3), back = random_bytes(5 << 20, 4);
    std::vector<std::byte> at_b(there.size()), at_a(back.size());
    ends.spawn(write_in_pieces(*ends.a, there, random));
    ends.spawn(write_in_pieces(*ends.b, back, random));
    ends.spawn(read_in_pieces(*ends.b, at_b, random));
    ends.spawn(read_in_pieces(*ends.a, at_a, random));
    ends.run();
    CHECK(at_b == there);
    CHECK(at_a == back);
  }
}

TEST_CASE("the end of a connection ends a read, and also that of one closed meanwhile") {
  for (const bool tls : {false, true}) {
    for (const bool own : {false, true}) {
      CAPTURE(tls, own);
      Ends ends(tls);
      std::vector<std::byte> received(100);
      bool ended = false;
      ends.spawn(
          [](Connection& from, std::vector<std::byte>& to, bool& thrown) -> asio::awaitable<void> {
            try {
              co_await from.read(to.data(), to.size());
            } catch (const asio::system_error&) {
              thrown = true;
            }
          }(*ends.a, received, ended));
      ends.io.poll();
      CHECK_FALSE(ended);
      (own ? ends.a : ends.b)->close();
      ends.run();
      CHECK(ended);
    }
  }
}
#endif
