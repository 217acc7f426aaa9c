// A TCP connection, with TLS or plain. Its operations do not wait: they return what can be done at
// once, and a coroutine waits for the rest. A small message so takes one call of the system at each
// host, whoever sends or receives it. A connection reads ahead: the header of a frame and the data
// of a small one arrive together.
//
// All members belong to the thread that runs the io_context (event_loop.hpp).
#pragma once

#include <array>
#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/context.hpp>
#include <asio/ssl/stream_base.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace gdr::network {

/// What the next part of an operation waits for.
enum class Wait { None, Readable, Writable };

/// The part of an operation that was done at once.
struct Progress {
  std::size_t bytes = 0;
  Wait wait = Wait::None;
};

using Buffers = std::array<asio::const_buffer, 2>;

class Connection {
 public:
  /// Without `tls` the connection is neither encrypted nor authenticated.
  Connection(asio::ip::tcp::socket socket, asio::ssl::context* tls);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  asio::ip::tcp::socket& socket() noexcept { return socket_; }
  auto get_executor() noexcept { return socket_.get_executor(); }
  /// The state of TLS; null for a plain connection.
  SSL* tls() noexcept { return tls_.get(); }

  /// Nothing to do for a plain connection.
  asio::awaitable<void> handshake(asio::ssl::stream_base::handshake_type role);
  /// Copies bytes that have been read ahead: all, or none if there are fewer.
  bool take(void* to, std::size_t bytes) noexcept;
  /// Reads at least one byte and at most `bytes`.
  asio::awaitable<std::size_t> read_some(void* to, std::size_t bytes);
  /// Reads all bytes.
  asio::awaitable<void> read(void* to, std::size_t bytes);
  /// Reads ahead at least one byte more.
  asio::awaitable<void> read_ahead();
  /// Writes what the system takes at once of the bytes from `begin` on. Until all are written, the
  /// next call continues with the same buffers. Throws asio::system_error.
  Progress write_now(const Buffers& buffers, std::size_t begin);
  /// Writes all bytes.
  asio::awaitable<void> write(Buffers buffers);
  /// Returns when the connection may have become ready. Throws asio::system_error, also at its end.
  asio::awaitable<void> ready(Wait wait);
  /// Tells the other host that nothing follows, and waits until it closes its side.
  asio::awaitable<void> shut_down();
  /// Closes the connection at once.
  void close() noexcept;

 private:
  struct FreeTls {
    void operator()(SSL* tls) const noexcept { SSL_free(tls); }
  };

  Progress read_now(void* to, std::size_t bytes);
  Progress result_of_tls(int result);
  asio::awaitable<std::size_t> receive(void* to, std::size_t bytes);

  /// The system's calls; they return what recv and sendmsg do.
  ssize_t receive_bytes(void* to, std::size_t bytes) noexcept;
  ssize_t send_bytes(const Buffers& buffers) noexcept;
  /// OpenSSL's way to them.
  static BIO_METHOD* tls_transport();

  asio::ip::tcp::socket socket_;
  std::unique_ptr<SSL, FreeTls> tls_;
  std::vector<std::byte>
      arrived_;  ///< bytes from the network, of which [arrived_next_, arrived_end_) are left
  std::size_t arrived_next_ = 0, arrived_end_ = 0;
  bool receiving_ = false;  ///< whether a coroutine waits for them
  bool drained_ = false;    ///< whether the system had fewer bytes than the last call asked for
  std::vector<std::byte> ahead_;  ///< received and decrypted bytes, of which [next_, end_) are left
  std::vector<std::byte> record_;  ///< data of a record of TLS, before it is encrypted
  std::size_t next_ = 0, end_ = 0;
};

}  // namespace gdr::network
