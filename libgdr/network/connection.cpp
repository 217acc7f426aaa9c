#include "libgdr/network/connection.hpp"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/ssl/error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace gdr::network {
namespace {

/// The data of a record of TLS.
constexpr std::size_t record_bytes = 16 << 10;

bool would_block() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK; }

[[noreturn]] void throw_system_error(int error) {
  throw asio::system_error(asio::error_code(error, asio::error::get_system_category()));
}

/// The buffers without their first `n` bytes.
Buffers rest_of(const Buffers& buffers, std::size_t n) noexcept {
  const std::size_t first = std::min(n, buffers[0].size());
  return {buffers[0] + first, buffers[1] + (n - first)};
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, asio::ssl::context* tls)
    : socket_(std::move(socket)), arrived_(record_bytes), ahead_(record_bytes) {
  if (tls == nullptr) return;
  tls_.reset(SSL_new(tls->native_handle()));
  BIO* const transport = tls_ ? BIO_new(tls_transport()) : nullptr;
  if (transport == nullptr) throw std::bad_alloc();
  BIO_set_data(transport, this);
  BIO_set_init(transport, 1);
  SSL_set_bio(tls_.get(), transport, transport);
  SSL_set_mode(tls_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_set_read_ahead(tls_.get(), 1);
  record_.resize(record_bytes);
}

void Connection::close() noexcept {
  asio::error_code ignored;
  socket_.close(ignored);
}

ssize_t Connection::receive_bytes(void* to, std::size_t bytes) noexcept {
  if (const std::size_t waiting = arrived_end_ - arrived_next_; waiting > 0) {
    const std::size_t n = std::min(bytes, waiting);
    std::memcpy(to, arrived_.data() + arrived_next_, n);
    arrived_next_ += n;
    return static_cast<ssize_t>(n);
  }
  if (drained_) {
    errno = EAGAIN;
    return -1;
  }
  ssize_t n = 0;
  do n = ::recv(socket_.native_handle(), to, bytes, MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  drained_ = n < 0 ? would_block() : n > 0 && static_cast<std::size_t>(n) < bytes;
  return n;
}

ssize_t Connection::send_bytes(const Buffers& buffers) noexcept {
  iovec parts[2];
  for (int k = 0; k < 2; ++k)
    parts[k] = {const_cast<void*>(buffers[static_cast<std::size_t>(k)].data()),
                buffers[static_cast<std::size_t>(k)].size()};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  ssize_t n = 0;
  do n = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n;
}

BIO_METHOD* Connection::tls_transport() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "connection");
    if (m == nullptr) throw std::bad_alloc();
    BIO_meth_set_write_ex(m, [](BIO* bio, const char* from, std::size_t n, std::size_t* done) {
      const ssize_t sent = static_cast<Connection*>(BIO_get_data(bio))
                               ->send_bytes({asio::const_buffer(from, n), {}});
      BIO_clear_retry_flags(bio);
      if (sent < 0 && would_block()) BIO_set_retry_write(bio);
      *done = sent > 0 ? static_cast<std::size_t>(sent) : 0;
      return sent > 0 ? 1 : 0;
    });
    BIO_meth_set_read_ex(m, [](BIO* bio, char* to, std::size_t n, std::size_t* done) {
      const ssize_t received = static_cast<Connection*>(BIO_get_data(bio))->receive_bytes(to, n);
      BIO_clear_retry_flags(bio);
      if (received < 0 && would_block()) BIO_set_retry_read(bio);
      if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
      *done = received > 0 ? static_cast<std::size_t>(received) : 0;
      return received > 0 ? 1 : 0;
    });
    BIO_meth_set_ctrl(m, [](BIO* bio, int command, long, void*) -> long {
      if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return m;
  }();
  return method;
}

/// What an operation of TLS returned. Throws asio::system_error where it failed.
Progress Connection::result_of_tls(int result) {
  if (result > 0) return {static_cast<std::size_t>(result)};
  const int system = errno;
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {0, Wait::Readable};
    case SSL_ERROR_WANT_WRITE:
      return {0, Wait::Writable};
    case SSL_ERROR_ZERO_RETURN:
      throw asio::system_error(asio::error::eof);
    default:
      break;
  }
  if (const unsigned long error = ERR_get_error(); error != 0)
    throw asio::system_error(
        asio::error_code(static_cast<int>(error), asio::error::get_ssl_category()));
  if (system != 0) throw_system_error(system);
  throw asio::system_error(asio::error::eof);
}

asio::awaitable<void> Connection::ready(Wait wait) {
  if (wait == Wait::Writable || receiving_) {
    co_await socket_.async_wait(wait == Wait::Writable ? asio::ip::tcp::socket::wait_write
                                                       : asio::ip::tcp::socket::wait_read,
                                asio::use_awaitable);
    co_return;
  }
  // asio's way to wait for bytes alone is another call of the system, and also ends at once on a
  // connection that has once waited until it could be written.
  arrived_next_ = arrived_end_ = 0;
  receiving_ = true;
  arrived_end_ = co_await socket_.async_read_some(asio::buffer(arrived_), asio::use_awaitable);
  receiving_ = false;
  // It may have been closed since then, by the stream's next connection.
  if (!socket_.is_open()) throw asio::system_error(asio::error::operation_aborted);
  drained_ = arrived_end_ < arrived_.size();
}

asio::awaitable<void> Connection::handshake(asio::ssl::stream_base::handshake_type role) {
  if (!tls_) co_return;
  if (role == asio::ssl::stream_base::client)
    SSL_set_connect_state(tls_.get());
  else
    SSL_set_accept_state(tls_.get());
  for (;;) {
    ERR_clear_error();
    errno = 0;
    const Progress p = result_of_tls(SSL_do_handshake(tls_.get()));
    if (p.wait == Wait::None) co_return;
    co_await ready(p.wait);
  }
}

Progress Connection::read_now(void* to, std::size_t bytes) {
  errno = 0;
  if (tls_) {
    ERR_clear_error();
    return result_of_tls(
        SSL_read(tls_.get(), to, static_cast<int>(std::min<std::size_t>(bytes, 1 << 30))));
  }
  const ssize_t n = receive_bytes(to, bytes);
  if (n > 0) return {static_cast<std::size_t>(n)};
  if (n == 0) throw asio::system_error(asio::error::eof);
  if (!would_block()) throw_system_error(errno);
  return {0, Wait::Readable};
}

asio::awaitable<std::size_t> Connection::receive(void* to, std::size_t bytes) {
  for (;;) {
    const Progress p = read_now(to, bytes);
    if (p.wait == Wait::None) co_return p.bytes;
    co_await ready(p.wait);
  }
}

bool Connection::take(void* to, std::size_t bytes) noexcept {
  if (end_ - next_ < bytes) return false;
  if (bytes > 0) std::memcpy(to, ahead_.data() + next_, bytes);
  next_ += bytes;
  return true;
}

asio::awaitable<void> Connection::read_ahead() {
  std::memmove(ahead_.data(), ahead_.data() + next_, end_ - next_);
  end_ -= std::exchange(next_, 0);
  end_ += co_await receive(ahead_.data() + end_, ahead_.size() - end_);
}

asio::awaitable<std::size_t> Connection::read_some(void* to, std::size_t bytes) {
  if (next_ == end_) {
    if (bytes >= ahead_.size()) co_return co_await receive(to, bytes);
    co_await read_ahead();
  }
  const std::size_t n = std::min(bytes, end_ - next_);
  take(to, n);
  co_return n;
}

asio::awaitable<void> Connection::read(void* to, std::size_t bytes) {
  auto* const at = static_cast<std::byte*>(to);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = co_await read_some(at + done, bytes - done);
    done += n;
  }
}

Progress Connection::write_now(const Buffers& buffers, std::size_t begin) {
  const std::size_t all = buffers[0].size() + buffers[1].size();
  Progress sum;
  while (begin + sum.bytes < all && sum.wait == Wait::None) {
    const Buffers rest = rest_of(buffers, begin + sum.bytes);
    errno = 0;
    if (tls_) {
      const std::size_t n = asio::buffer_copy(asio::buffer(record_), rest);
      ERR_clear_error();
      const Progress p = result_of_tls(SSL_write(tls_.get(), record_.data(), static_cast<int>(n)));
      sum = {sum.bytes + p.bytes, p.wait};
      continue;
    }
    const ssize_t n = send_bytes(rest);
    if (n >= 0)
      sum.bytes += static_cast<std::size_t>(n);
    else if (would_block())
      sum.wait = Wait::Writable;
    else
      throw_system_error(errno);
  }
  return sum;
}

asio::awaitable<void> Connection::write(Buffers buffers) {
  const std::size_t all = buffers[0].size() + buffers[1].size();
  for (std::size_t done = 0; done < all;) {
    const Progress p = write_now(buffers, done);
    done += p.bytes;
    if (p.wait != Wait::None) co_await ready(p.wait);
  }
}

asio::awaitable<void> Connection::shut_down() {
  asio::error_code ignored;
  try {
    if (tls_) {
      for (Progress p; p.bytes == 0 && socket_.is_open();) {
        ERR_clear_error();
        errno = 0;
        const int result = SSL_shutdown(tls_.get());
        // 0: its message is sent, and that of the other host is read next.
        p = result == 0 ? Progress{} : result_of_tls(result);
        if (p.wait != Wait::None) co_await ready(p.wait);
      }
      co_return;
    }
  } catch (const asio::system_error&) {  // the other host has closed the connection
    co_return;
  }
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  std::byte rest[256];
  while (!ignored)
    co_await socket_.async_read_some(asio::buffer(rest),
                                     asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace gdr::network
