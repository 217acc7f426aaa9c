#include "libgdr/driver/wire.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "gdr/error.hpp"

namespace gdr::driver {
namespace {

constexpr std::size_t max_files = 4;

/// Any user can create a socket with the default name in /tmp: accept only this user's and root's.
void require_trusted(const File& socket, const std::string& path) {
  if (path != socket_in_tmp()) return;
  const ucred peer = peer_of(socket);
  if (peer.uid == getuid() || peer.uid == 0) return;
  throw device_error("the board server at " + path + " belongs to user " +
                     std::to_string(peer.uid) +
                     "; name the socket of a trusted server with GDR_SOCKET");
}

/// Buffer for the files of a message, aligned as the system requires.
union Control {
  char bytes[CMSG_SPACE(max_files * sizeof(int))];
  cmsghdr align;
};

}  // namespace

Message make_message(MessageKind kind, std::uint64_t number, const std::string& text) {
  Message m;
  m.kind = kind;
  m.number = number;
  std::memcpy(m.text, text.data(), std::min(text.size(), sizeof(m.text) - 1));
  return m;
}

std::string message_text(const Message& message) {
  return {message.text, strnlen(message.text, sizeof(message.text))};
}

bool send_message(const File& socket, const Message& message, const std::vector<int>& files) {
  iovec part{const_cast<Message*>(&message), sizeof(message)};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control{};
  if (!files.empty()) {
    header.msg_control = control.bytes;
    header.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* const c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), files.data(), files.size() * sizeof(int));
  }
  ssize_t sent = -1;
  do sent = sendmsg(socket.get(), &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof(message));
}

std::optional<Message> receive_message(const File& socket, std::vector<File>& files) {
  Message message;
  iovec part{&message, sizeof(message)};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control{};
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof(control.bytes);
  ssize_t got = -1;
  do got = recvmsg(socket.get(), &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); got >= 0 && c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t k = 0; k < count; ++k) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + k * sizeof(int), sizeof(int));
      files.emplace_back(fd);
    }
  }
  if (got != static_cast<ssize_t>(sizeof(message)) || message.magic != wire_magic ||
      message.version != 1 || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return {};
  return message;
}

std::string socket_in_tmp() { return "/tmp/gdr-" + std::to_string(getuid()) + ".socket"; }

sockaddr_un socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    throw Error(ErrorCategory::Usage, "the path of a board server's socket must have from 1 to " +
                                          std::to_string(sizeof(address.sun_path) - 1) +
                                          " characters");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

ucred peer_of(const File& socket) {
  ucred peer{0, static_cast<uid_t>(-1), static_cast<gid_t>(-1)};
  socklen_t size = sizeof(peer);
  getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer;
}

File connect_to(const std::string& path) {
  const sockaddr_un address = socket_address(path);
  File socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) throw device_error("a socket cannot be created: " + system_error());
  // Without a timeout, connect() blocks forever if the connection queue of a stopped server is
  // full.
  const timeval limit{answer_timeout.count(), 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  const auto end = std::chrono::steady_clock::now() + answer_timeout;
  int code = -1;
  do code = connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  while (code != 0 && errno == EINTR && std::chrono::steady_clock::now() < end);
  if (code == 0) {
    require_trusted(socket, path);
    return socket;
  }
  std::string remedy = "start one with \"gdr serve --socket " + path + "\"";
  if (errno == EACCES)
    remedy = "the socket's owner and mode do not allow access (gdr serve --mode)";
  if (errno == EAGAIN || errno == EINTR)
    remedy = "the server accepts no connections; check whether its process is stopped";
  throw device_error("no board server answers at " + path + ": " + system_error() + "; " + remedy);
}

}  // namespace gdr::driver
