// The board server: emulated boards for other processes, through a Unix socket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/board/hardware/faults.hpp"
#include "emulator/isa/geometry.hpp"
#include "libgdr/driver/network.hpp"

namespace gdr::driver {

struct ServerOptions {
  std::string socket;    ///< path; created with `mode`, removed at the end
  unsigned mode = 0600;  ///< file mode of the socket: who may connect
  unsigned boards = 1;
  Geometry geometry;           ///< geometry of every board
  std::string engine, isa;     ///< arguments of make_engine
  unsigned threads = 0;        ///< host threads per board; 0: the default of OpenMP
  bool any_engine = false;     ///< clients may request another engine or instruction set
  double queue_timeout = 600;  ///< maximum time of a client in the queue
  std::uint64_t max_shared_bytes = std::uint64_t{4} << 30;  ///< memory shared with an owner
  std::string log;                 ///< log file, appended to; empty: standard error
  std::vector<Fault> faults;       ///< injected faults, for tests
  std::optional<Endpoint> listen;  ///< address for clients on other hosts; nothing: none
  Credentials credentials;         ///< credentials of this server, for these clients
  OfferedFolder files;             ///< files for these clients; without `session_folders`
  double resume_seconds = 30;      ///< time that a board waits for one whose connection broke, s
  std::optional<double> poll_seconds = {};  ///< how long waiting threads poll before they sleep, s
};

/// Serves until SIGINT, SIGTERM or SIGHUP. A separate process serves each owner with a board in its
/// initial state, and ends with the owner's connection. The caller must not have started threads.
/// `ready` is called as soon as clients can connect, with the port that the system chose for port
/// 0. Throws Error (Usage, Io, Device).
void serve(const ServerOptions& options, void (*ready)(const ServerOptions&));

/// Writes a line to the log (standard error, or ServerOptions::log).
void log_line(const std::string& text);

/// Main function of an owner's process: serves a board until `socket` is closed. Ends the process.
[[noreturn]] void serve_owner(const ServerOptions& options, int socket, unsigned board,
                              const std::string& engine, const std::string& isa);

}  // namespace gdr::driver
