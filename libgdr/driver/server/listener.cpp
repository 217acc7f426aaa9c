#include "libgdr/driver/server/listener.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>

#include "gdr/error.hpp"
#include "libgdr/driver/network.hpp"

namespace gdr::driver {
namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Addresses addresses_of(const Endpoint& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &list);
  if (error != 0)
    throw Error(ErrorCategory::Usage, "--listen " + place.text() + ": " + gai_strerror(error) +
                                          "; name an address of this host");
  return {list, freeaddrinfo};
}

bool is_loopback(const addrinfo& a) {
  if (a.ai_family == AF_INET) {
    const auto& v4 = *reinterpret_cast<const sockaddr_in*>(a.ai_addr);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  const auto& v6 = *reinterpret_cast<const sockaddr_in6*>(a.ai_addr);
  return a.ai_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

}  // namespace

void check_network(const ServerOptions& options) {
  if (options.credentials.empty())
    throw Error(ErrorCategory::Usage,
                "--listen needs credentials: --psk FILE, or --cert, --key and --ca; without any, "
                "--insecure serves programs of this host at a loopback address");
  if (options.credentials.none)
    for (const Addresses all = addresses_of(*options.listen); const addrinfo& a : {*all})
      if (!is_loopback(a))
        throw Error(ErrorCategory::Usage, "--insecure: other hosts can reach " +
                                              options.listen->text() +
                                              "; listen at 127.0.0.1, or give credentials");
  network().check_server(options.credentials);
}

File listen_at(const Endpoint& place) {
  std::string why;
  const Addresses all = addresses_of(place);
  for (const addrinfo* a = all.get(); a != nullptr; a = a->ai_next) {
    File file(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (file && setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(file.get(), a->ai_addr, a->ai_addrlen) == 0 && listen(file.get(), 512) == 0)
      return file;
    why = system_error();
  }
  throw Error(ErrorCategory::Io, "--listen " + place.text() + ": " + why +
                                     "; name a free port at an address of this host");
}

unsigned port_of(const File& listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  // The port is at the same place in both.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

void serve_network(const ServerOptions& options, int listener, const std::string& session_folders) {
  NetworkServerOptions network_options;
  network_options.listener = listener;
  network_options.socket = options.socket;
  network_options.credentials = options.credentials;
  network_options.max_message_bytes = options.max_shared_bytes;
  network_options.resume_seconds = options.resume_seconds;
  network_options.poll_seconds = options.poll_seconds;
  network_options.files = options.files;
  network_options.files.session_folders = session_folders;
  network_options.log = log_line;
  network().serve(network_options);
}

}  // namespace gdr::driver
