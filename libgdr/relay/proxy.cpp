#include "libgdr/relay/proxy.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <list>
#include <memory>

#include "emulator/host/parse_number.hpp"

namespace gdr::relay {
namespace {

/// Bytes of one direction that have been read and not yet written. Small, so that the windows of
/// the TCP connections decide how much is under way.
struct Pipe {
  int from = -1, to = -1;
  std::array<char, 65536> bytes;
  std::size_t begin = 0, end = 0;
  bool ended = false, passed_on = false;

  bool wants_read() const noexcept { return !ended && begin == end; }
  bool wants_write() const noexcept { return begin < end; }

  /// False after an error.
  bool move() {
    if (wants_read()) {
      const ssize_t size = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size < 0) return errno == EAGAIN || errno == EINTR;
      begin = 0;
      end = static_cast<std::size_t>(size);
      ended = size == 0;
    }
    if (wants_write()) {
      const ssize_t size =
          ::send(to, bytes.data() + begin, end - begin, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (size < 0) return errno == EAGAIN || errno == EINTR;
      begin += static_cast<std::size_t>(size);
    }
    if (ended && !passed_on) {
      ::shutdown(to, SHUT_WR);
      passed_on = true;
    }
    return true;
  }
};

struct Connection {
  File near, far;
  Pipe there, back;
  bool connecting = true;

  bool done() const noexcept { return there.passed_on && back.passed_on; }
};

void set_no_delay(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/// Both ends get RST when the sockets are closed.
void abort_connection(const Connection& c) {
  const linger at_once{1, 0};
  for (const File* file : {&c.near, &c.far})
    ::setsockopt(file->descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

std::unique_ptr<Connection> accept_on(const Route& route) {
  auto c = std::make_unique<Connection>();
  c->near = File(::accept4(route.listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  if (c->near.descriptor() < 0) return nullptr;
  c->far = File(::socket(route.target.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const bool connects =
      c->far.descriptor() >= 0 &&
      (::connect(c->far.descriptor(), reinterpret_cast<const sockaddr*>(&route.target),
                 route.size) == 0 ||
       errno == EINPROGRESS);
  if (!connects) {
    abort_connection(*c);
    return nullptr;
  }
  set_no_delay(c->near.descriptor());
  set_no_delay(c->far.descriptor());
  c->there.from = c->back.to = c->near.descriptor();
  c->there.to = c->back.from = c->far.descriptor();
  return c;
}

/// False if the connection has ended.
bool serve(Connection& c, short near, short far) {
  if (c.connecting) {
    if (far == 0) return (near & (POLLERR | POLLHUP)) == 0;
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(c.far.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      abort_connection(c);
      return false;
    }
    c.connecting = false;
  }
  if (!c.there.move() || !c.back.move()) {
    abort_connection(c);
    return false;
  }
  return !c.done();
}

}  // namespace

void resolve(const std::string& text, Route& route) {
  const std::size_t colon = text.rfind(':');
  // getaddrinfo takes the lowest 16 bits of any number, with a sign or spaces before it.
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto number = parse_all<int>(port);
  const bool is_name = !port.empty() && std::isalpha(static_cast<unsigned char>(port.front()));
  if (!port.empty() && !is_name && !(number && *number >= 1 && *number <= 65535))
    throw Error(ErrorCategory::Usage,
                fmt::format("'{}' is no HOST:PORT: '{}' is neither a port from 1 to 65535 nor the "
                            "name of a service",
                            text, port));
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int error = host.empty() || port.empty()
                        ? EAI_NONAME
                        : ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0)
    throw Error(ErrorCategory::Usage,
                fmt::format("'{}' is no HOST:PORT: {}", text, ::gai_strerror(error)));
  std::memcpy(&route.target, found->ai_addr, found->ai_addrlen);
  route.size = found->ai_addrlen;
  ::freeaddrinfo(found);
}

File listen_at(const Route& where, const std::string& text) {
  File socket(::socket(where.target.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (socket.descriptor() < 0 ||
      ::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&where.target), where.size) !=
          0 ||
      ::listen(socket.descriptor(), 64) != 0)
    system_error("cannot listen on " + text);
  return socket;
}

void run_proxy(std::vector<Route> routes) {
  std::list<std::unique_ptr<Connection>> connections;
  std::vector<pollfd> files;
  for (;;) {
    files.clear();
    for (const Route& route : routes) files.push_back({route.listener.descriptor(), POLLIN, 0});
    for (const auto& c : connections) {
      const auto events = [&](bool reads, bool writes) {
        return static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
      };
      const bool open = !c->connecting;
      // A file without events is left out, or its end would wake the loop repeatedly.
      const short near = events(open && c->there.wants_read(), open && c->back.wants_write());
      const short far =
          events(open && c->back.wants_read(), c->connecting || c->there.wants_write());
      files.push_back({near ? c->near.descriptor() : -1, near, 0});
      files.push_back({far ? c->far.descriptor() : -1, far, 0});
    }
    if (::poll(files.data(), files.size(), -1) < 0) continue;
    std::size_t place = routes.size();
    for (auto at = connections.begin(); at != connections.end(); place += 2) {
      const short near = files[place].revents, far = files[place + 1].revents;
      at = near == 0 && far == 0    ? std::next(at)
           : serve(**at, near, far) ? std::next(at)
                                    : connections.erase(at);
    }
    for (std::size_t k = 0; k < routes.size(); ++k)
      if (files[k].revents & POLLIN)
        if (auto c = accept_on(routes[k])) connections.push_back(std::move(c));
  }
}

/// A message of one byte with room for a descriptor of a file (unix(7), SCM_RIGHTS).
struct FileMessage {
  FileMessage() noexcept {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
  }
  FileMessage(const FileMessage&) = delete;
  FileMessage& operator=(const FileMessage&) = delete;

  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
};

void send_files(int socket, const std::vector<Route>& routes) {
  for (const Route& route : routes) {
    FileMessage passed;
    cmsghdr* const header = CMSG_FIRSTHDR(&passed.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int file = route.listener.descriptor();
    std::memcpy(CMSG_DATA(header), &file, sizeof(file));
    if (::sendmsg(socket, &passed.message, 0) != 1)
      system_error("cannot pass a socket to a process");
  }
}

void receive_files(int socket, std::vector<Route>& routes) {
  for (Route& route : routes) {
    FileMessage passed;
    const ssize_t size = ::recvmsg(socket, &passed.message, 0);
    const cmsghdr* const header = size == 1 ? CMSG_FIRSTHDR(&passed.message) : nullptr;
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS)
      system_error("cannot receive a socket from a process");
    int file = -1;
    std::memcpy(&file, CMSG_DATA(header), sizeof(file));
    route.listener = File(file);
  }
}

}  // namespace gdr::relay
