// A TCP connection, with TLS or plain, that reads ahead: the header of a frame and the data of a
// small one take one call of the system.
#pragma once

#include <array>
#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl.hpp>
#include <cstddef>
#include <optional>
#include <vector>

namespace gdr::network {

class Connection {
 public:
  /// Without `tls` the connection is neither encrypted nor authenticated.
  Connection(asio::ip::tcp::socket socket, asio::ssl::context* tls);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  asio::ip::tcp::socket& socket() noexcept { return socket_; }
  auto get_executor() noexcept { return socket_.get_executor(); }
  /// The state of TLS; null for a plain connection.
  SSL* tls() noexcept { return tls_ ? tls_->native_handle() : nullptr; }

  /// Nothing to do for a plain connection.
  asio::awaitable<void> handshake(asio::ssl::stream_base::handshake_type role);
  /// Reads at least one byte and at most `bytes`.
  asio::awaitable<std::size_t> read_some(void* to, std::size_t bytes);
  /// Reads or writes all bytes.
  asio::awaitable<void> read(void* to, std::size_t bytes);
  asio::awaitable<std::size_t> write(const std::array<asio::const_buffer, 2>& buffers);
  /// Tells the other host that nothing follows, and waits until it closes its side.
  asio::awaitable<void> shut_down();
  /// Closes the connection at once.
  void close() noexcept;

 private:
  asio::awaitable<std::size_t> receive(void* to, std::size_t bytes);

  asio::ip::tcp::socket socket_;
  std::optional<asio::ssl::stream<asio::ip::tcp::socket&>> tls_;
  std::vector<std::byte> ahead_;  ///< bytes [next_, end_) have been received
  std::size_t next_ = 0, end_ = 0;
};

}  // namespace gdr::network
