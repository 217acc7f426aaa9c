// Boards of servers on other hosts. The transport is a library of its own (libgdr/network), loaded
// when it is needed, so that other programs do not load TLS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "libgdr/driver/board_link.hpp"
#include "libgdr/driver/network_options.hpp"
#include "libgdr/driver/remote_board.hpp"
#include "libgdr/driver/server_files.hpp"

namespace gdr::driver {

struct NetworkRequest {
  Endpoint server;
  Credentials credentials;
  TransferOptions transfers;
  ServerRequest board;         ///< engine, instruction set and time in the queue
  double timeout_seconds = 0;  ///< heartbeat timeout of the board at its server; 0: by its work
  bool files = false;          ///< the session is with the server's files instead of a board
};

/// An open board of a server.
struct NetworkBoard {
  std::unique_ptr<BoardLink> link;
  BoardIdentity identity;
};

/// A folder whose files a server offers to clients on other hosts.
struct OfferedFolder {
  std::string path;                                   ///< absolute; empty: no files are offered
  bool writable = false;                              ///< clients may write files there
  std::uint64_t max_bytes = std::uint64_t{16} << 30;  ///< maximum size of a file, bytes
  std::string session_folders;                        ///< folder for those of sessions
  std::string command;                                ///< the program gdr, which runs jobs
};

/// Options of the part of a server that accepts connections.
struct NetworkServerOptions {
  int listener = -1;   ///< a listening TCP socket
  std::string socket;  ///< Unix socket of the board server
  Credentials credentials;
  std::uint64_t max_message_bytes =
      std::uint64_t{1} << 32;  ///< maximum size of a client's list with its data, bytes
  double resume_seconds = 30;  ///< time that a board waits for a client whose connection broke, s
  std::optional<double> poll_seconds = {};  ///< how long waiting threads poll before they sleep, s
  unsigned max_connections = 256;
  OfferedFolder files;
  std::function<void(const std::string& line)> log;  ///< writes to the log of the board server
};

/// The transport.
class Network {
 public:
  virtual ~Network() = default;
  /// Opens a board. Throws Error (Device, Usage).
  virtual NetworkBoard open(const NetworkRequest& request) const = 0;
  /// Opens a session with the files of a server. Throws Error (Device, Usage).
  virtual std::unique_ptr<ServerFiles> open_files(const NetworkRequest& request) const = 0;
  /// Throws Error (Usage, Io) if a server cannot use these credentials.
  virtual void check_server(const Credentials& credentials) const = 0;
  /// Serves clients until the process ends. Throws Error (Io).
  virtual void serve(const NetworkServerOptions& options) const = 0;
};

/// The function of the library: `const Network& gdr_network()`.
using NetworkEntry = const Network& (*)();
constexpr const char* network_symbol = "gdr_network";

/// Loads the transport. Throws Error (Unsupported) if it is not installed.
const Network& network();

}  // namespace gdr::driver
