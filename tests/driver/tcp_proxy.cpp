#include "driver/tcp_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

namespace driver_test {
namespace {

using gdr::driver::File;

constexpr std::size_t max_first_bytes = 1 << 20;

sockaddr_in local(unsigned port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Makes the next close() send a reset instead of the data that were not sent.
void reset_on_close(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

}  // namespace

File connect_tcp(unsigned port) {
  File file(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = local(port);
  if (connect(file.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return {};
  return file;
}

TcpProxy::TcpProxy(unsigned port)
    : target_(port), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = local(0);
  socklen_t size = sizeof(address);
  if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_.get(), 64) != 0 ||
      getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("the proxy cannot listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

TcpProxy::~TcpProxy() {
  ended_ = true;
  connect_tcp(port_);  // wakes the thread
  thread_.join();
  cut();
  for (Link& link : links_) {
    link.forward.join();
    link.back.join();
  }
}

void TcpProxy::run() {
  while (!ended_) {
    File client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (ended_) return;
    if (!client) continue;
    File server = refuse_ ? File() : connect_tcp(target_);
    if (!server) {
      reset_on_close(client.get());
      continue;
    }
    ++connections_;
    const std::scoped_lock lock(mutex_);
    Link& link = links_.emplace_back();
    link.a = std::move(client);
    link.b = std::move(server);
    link.forward = std::thread([this, a = link.a.get(), b = link.b.get()] { pump(a, b); });
    link.back = std::thread([this, a = link.a.get(), b = link.b.get()] { pump(b, a); });
  }
}

void TcpProxy::pump(int from, int to) {
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t n = recv(from, buffer.data(), buffer.size(), 0);
    if (n <= 0) break;
    {
      // Recorded before they are forwarded: what a peer has answered to is in first_bytes().
      const std::scoped_lock lock(mutex_);
      if (first_bytes_.size() < max_first_bytes)
        first_bytes_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    for (ssize_t done = 0; done < n;) {
      const ssize_t sent =
          send(to, buffer.data() + done, static_cast<std::size_t>(n - done), MSG_NOSIGNAL);
      if (sent <= 0) return;
      done += sent;
    }
    bytes_ += static_cast<std::uint64_t>(n);
  }
  shutdown(to, SHUT_WR);
}

void TcpProxy::cut() {
  const std::scoped_lock lock(mutex_);
  // Files stay open until the end, so that their numbers are not used again while threads end.
  for (Link& link : links_)
    for (const int socket : {link.a.get(), link.b.get()}) {
      reset_on_close(socket);
      // An address of no family disconnects: a reset is sent.
      sockaddr none{};
      none.sa_family = AF_UNSPEC;
      connect(socket, &none, sizeof(none));
      shutdown(socket, SHUT_RDWR);
    }
}

}  // namespace driver_test
