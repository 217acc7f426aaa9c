// The TCP socket of a board server, and the process that serves it.
#pragma once

#include "libgdr/driver/file.hpp"
#include "libgdr/driver/server/server.hpp"

namespace gdr::driver {

/// Throws Error (Usage, Io, Unsupported) if clients on other hosts cannot be served with these
/// options: no credentials, or none for an address that other hosts can reach.
void check_network(const ServerOptions& options);

/// A listening socket. Throws Error (Usage, Io).
File listen_at(const Endpoint& place);

/// The port of a listening socket.
unsigned port_of(const File& listener);

/// Serves clients on other hosts until the process ends. `session_folders`: the folder for those of
/// sessions with files. Throws Error.
void serve_network(const ServerOptions& options, int listener, const std::string& session_folders);

}  // namespace gdr::driver
