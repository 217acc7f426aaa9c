// TCP connections that are accepted in one network namespace and continued in another one.
#pragma once

#include <netinet/in.h>

#include <string>
#include <vector>

#include "libgdr/relay/file.hpp"

namespace gdr::relay {

/// A listening socket, and where its connections lead to.
struct Route {
  File listener;
  sockaddr_storage target{};
  socklen_t size = 0;
};

/// "HOST:PORT" as an address of IPv4 or IPv6 ("[::1]:80"); HOST may be a name, PORT is a number
/// from 1 to 65535 or the name of a service. Throws Error (Usage).
void resolve(const std::string& text, Route& route);
/// A socket of this namespace that listens on an address. Throws Error (Io), as for a port in use.
File listen_at(const Route& where, const std::string& text);

/// Accepts connections of all routes, connects each to its target by a socket of this process's
/// namespace, and copies bytes both ways until both ends have closed. Does not return.
[[noreturn]] void run_proxy(std::vector<Route> routes);

/// Pass open files between processes over a Unix socket. Throw Error (Io).
void send_files(int socket, const std::vector<Route>& routes);
void receive_files(int socket, std::vector<Route>& routes);

}  // namespace gdr::relay
