// Time limits, settings and names of connections; shared by client and server.
#pragma once

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <memory>

#include "libgdr/network/session.hpp"
#include "libgdr/network/socket_options.hpp"

namespace gdr::network {

/// Closes a connection after some time, unless it is destroyed before.
class Deadline {
 public:
  Deadline(Connection& connection, std::chrono::duration<double> time)
      : timer_(connection.get_executor()), state_(std::make_shared<State>()) {
    timer_.expires_after(std::chrono::duration_cast<Clock::duration>(time));
    timer_.async_wait([&connection, state = state_](const asio::error_code& error) {
      if (error || state->over) return;
      state->expired = true;
      connection.close();
    });
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { state_->over = true; }
  bool expired() const noexcept { return state_->expired; }

 private:
  struct State {
    bool expired = false, over = false;
  };
  asio::steady_timer timer_;
  std::shared_ptr<State> state_;
};

/// Something that happens once, for which coroutines wait.
class OneTimeEvent {
 public:
  explicit OneTimeEvent(asio::io_context& io) : timer_(io, Clock::time_point::max()) {}
  void set() {
    happened_ = true;
    timer_.cancel();
  }
  asio::awaitable<void> wait() {
    asio::error_code ignored;
    while (!happened_)
      co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }

 private:
  asio::steady_timer timer_;
  bool happened_ = false;
};

/// Reads or writes plain data whole.
template <typename T>
asio::awaitable<T> read_plain(Connection& connection) {
  T value;
  co_await connection.read(&value, sizeof(T));
  co_return value;
}
template <typename T>
asio::awaitable<void> write_plain(Connection& connection, const T& value) {
  const Buffers buffers{asio::buffer(&value, sizeof(T)), {}};
  co_await connection.write(buffers);
}

/// Adapts the pacing of a stream to its measured rate while `session` uses this connection.
inline asio::awaitable<void> pace(std::shared_ptr<Session> session, unsigned stream,
                                  std::shared_ptr<Connection> connection) {
  DynamicPacing pacing;
  asio::steady_timer timer(connection->get_executor());
  while (!session->ended() && session->uses(stream, *connection)) {
    const int socket = connection->socket().native_handle();
    pacing.update(socket);
    const double round_trip = std::max(0.02, socket_state(socket).round_trip_seconds);
    timer.expires_after(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(round_trip)));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace gdr::network
