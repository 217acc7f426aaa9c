// Files that a server on another host offers, and commands that run there: what particles need that
// are not to cross the network.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/driver/board_link.hpp"

namespace gdr::driver {

/// How names of files at a server begin; the rest is a path below the folder that it offers. Other
/// names mean files of the session, which the server removes at the session's end.
constexpr std::string_view server_prefix = "server:/";

/// A file of a server.
struct ServerFile {
  std::string name;  ///< name without its folder
  bool exists = false, folder = false;
  std::uint64_t bytes = 0;
};

/// A command that runs at a server, with a board of it.
struct ServerJob {
  std::string device_options;          ///< options of the device name at the server: "boards=2"
  std::vector<std::string> arguments;  ///< name of the command, then those of job_arguments.hpp
};

/// What a transfer has moved.
struct TransferReport {
  std::uint64_t bytes = 0;    ///< size of the file
  std::uint64_t resumed = 0;  ///< bytes of it that an interrupted transfer had left
  double seconds = 0;
};

/// A session with the files of a server. Calls throw Error (Usage, Io, Device): the reason of the
/// server, or that it is lost.
class ServerFiles {
 public:
  using Progress = std::function<void(std::uint64_t bytes)>;  ///< bytes of the file so far
  using Output = std::function<void(bool error_stream, std::string_view text)>;

  virtual ~ServerFiles() = default;
  virtual ServerFile status(const std::string& name) = 0;
  /// The files and folders of a folder, in the order of their names.
  virtual std::vector<ServerFile> list(const std::string& folder) = 0;
  /// Copies a file to the server or from it, in chunks with checksums. The copy appears under its
  /// name when it is complete; an interrupted one goes on where it was, also in another session.
  virtual TransferReport send(const std::string& local, const std::string& name,
                              const Progress& progress) = 0;
  virtual TransferReport fetch(const std::string& name, const std::string& local,
                               const Progress& progress) = 0;
  /// Runs a command; returns its exit status. `stop_requested` is asked a few times a second, and
  /// interrupts the command as Ctrl-C does.
  virtual int run(const ServerJob& job, const Output& output,
                  const std::function<bool()>& stop_requested) = 0;
  virtual std::vector<StreamStatistics> streams() = 0;
};

}  // namespace gdr::driver
