// The files that a session may use: those below the folder that the server offers, and those of a
// folder of the session's own. No name leads out of the two: not "..", not a symbolic link.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libgdr/driver/file.hpp"
#include "libgdr/driver/network.hpp"
#include "libgdr/driver/server_files.hpp"
#include "libgdr/network/protocol.hpp"

namespace gdr::network {

/// A file that is open for reading.
struct OpenedFile {
  std::string name;
  driver::File file;
  std::uint64_t bytes = 0;
  std::uint64_t version = 0;  ///< changes when the file is written
};

/// A file that arrives in chunks: NAME.gdr-part until it is complete.
class ArrivingFile {
 public:
  /// Throws Error (Io) if it cannot be created, or arrives in another session, too.
  ArrivingFile(driver::File folder, std::string last, std::string name, std::uint64_t bytes);
  /// Checksums of the chunks that an interrupted transfer has left.
  const std::vector<std::uint64_t>& sums() const noexcept { return sums_; }
  void write(std::uint64_t offset, const Bytes& data, std::uint64_t sum);
  /// Gives the file its name, if `sum` is the checksum of all its chunks.
  void commit(std::uint64_t sum);

 private:
  driver::File folder_, file_;
  std::string last_, part_, name_;
  std::uint64_t bytes_;
  std::vector<std::uint64_t> sums_;
  std::vector<bool> has_;
};

class OfferedFiles {
 public:
  /// Creates the session's folder. Throws Error (Io).
  explicit OfferedFiles(const driver::OfferedFolder& offered);
  OfferedFiles(const OfferedFiles&) = delete;
  OfferedFiles& operator=(const OfferedFiles&) = delete;
  ~OfferedFiles();  ///< removes the session's folder

  /// The session's folder, in which "server:" leads to the offered one.
  const std::string& session_folder() const noexcept { return session_folder_; }

  driver::ServerFile status(const std::string& name) const;
  std::vector<driver::ServerFile> list(const std::string& folder) const;
  OpenedFile open(const std::string& name) const;
  std::unique_ptr<ArrivingFile> create(const std::string& name, std::uint64_t bytes);
  /// Throws Error (Usage, Io) unless a job may read the file, or write it.
  void check_input(const std::string& name) const;
  void check_output(const std::string& name) const;

 private:
  /// A folder to begin with, and a path below it.
  struct Place {
    int folder;
    std::string path;
    bool at_server;
  };
  Place place_of(const std::string& name) const;
  void check_writable(const Place& place, const std::string& name) const;

  const driver::OfferedFolder& offered_;
  std::string session_folder_;
  driver::File folder_, session_;
  std::uint64_t arrived_ = 0;  ///< bytes of files of the session
};

/// The version of an open file, by its size and the time of its last change.
std::uint64_t version_of(const driver::File& file);

}  // namespace gdr::network
