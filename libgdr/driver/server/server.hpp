// The board server: emulated boards for other processes, behind a Unix socket.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/board/hardware/faults.hpp"
#include "emulator/isa/geometry.hpp"

namespace gdr::driver {

struct ServerOptions {
  std::string socket;    ///< path; made with `mode`, removed at the end
  unsigned mode = 0600;  ///< who may connect, as for a file
  unsigned boards = 1;
  Geometry geometry;           ///< of every board
  std::string engine, isa;     ///< as for make_engine
  unsigned threads = 0;        ///< of a board; 0: as OpenMP decides
  bool any_engine = false;     ///< owners may ask for another engine or instruction set
  double queue_seconds = 600;  ///< nobody waits longer for a board
  std::uint64_t most_memory = std::uint64_t{4} << 30;  ///< shared with an owner, in bytes
  std::string log;            ///< file that is appended to; empty: standard error
  std::vector<Fault> faults;  ///< for tests
};

/// Serves until SIGINT, SIGTERM or SIGHUP. Every owner gets a process of its own, with boards that
/// nobody has used: it ends with its owner. The caller must not have started threads. `ready` is
/// called once clients can connect. Throws Error (Usage, Io, Device).
void serve(const ServerOptions& options, void (*ready)(const ServerOptions&));

/// Writes a line to the log (standard error, or what server_log_file names).
void log_line(const std::string& text);

/// The process of an owner: a board behind `socket` until the other end is closed. Ends the
/// process.
[[noreturn]] void serve_owner(const ServerOptions& options, int socket, unsigned board,
                              const std::string& engine, const std::string& isa);

}  // namespace gdr::driver
