#include "libgdr/network/connection.hpp"

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <cstring>
#include <utility>

namespace gdr::network {
namespace {

/// The data of a record of TLS.
constexpr std::size_t read_ahead_bytes = 16 << 10;

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, asio::ssl::context* tls)
    : socket_(std::move(socket)), ahead_(read_ahead_bytes) {
  if (tls != nullptr) tls_.emplace(socket_, *tls);
}

void Connection::close() noexcept {
  asio::error_code ignored;
  socket_.close(ignored);
}

asio::awaitable<void> Connection::handshake(asio::ssl::stream_base::handshake_type role) {
  if (tls_) co_await tls_->async_handshake(role, asio::use_awaitable);
}

asio::awaitable<std::size_t> Connection::receive(void* to, std::size_t bytes) {
  if (tls_) return tls_->async_read_some(asio::buffer(to, bytes), asio::use_awaitable);
  return socket_.async_read_some(asio::buffer(to, bytes), asio::use_awaitable);
}

asio::awaitable<std::size_t> Connection::read_some(void* to, std::size_t bytes) {
  if (next_ == end_) {
    if (bytes >= ahead_.size()) co_return co_await receive(to, bytes);
    const std::size_t received = co_await receive(ahead_.data(), ahead_.size());
    next_ = 0;
    end_ = received;
  }
  const std::size_t n = std::min(bytes, end_ - next_);
  std::memcpy(to, ahead_.data() + next_, n);
  next_ += n;
  co_return n;
}

asio::awaitable<void> Connection::read(void* to, std::size_t bytes) {
  auto* const at = static_cast<std::byte*>(to);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = co_await read_some(at + done, bytes - done);
    done += n;
  }
}

asio::awaitable<std::size_t> Connection::write(const std::array<asio::const_buffer, 2>& buffers) {
  if (tls_) return asio::async_write(*tls_, buffers, asio::use_awaitable);
  return asio::async_write(socket_, buffers, asio::use_awaitable);
}

asio::awaitable<void> Connection::shut_down() {
  asio::error_code ignored;
  if (tls_) {
    co_await tls_->async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    co_return;
  }
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  std::byte rest[256];
  while (!ignored)
    co_await socket_.async_read_some(asio::buffer(rest),
                                     asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace gdr::network
