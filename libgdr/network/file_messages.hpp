// Messages of a session with the files of a server: requests from the client, and the replies of
// the server, in the same order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libgdr/driver/server_files.hpp"
#include "libgdr/network/protocol.hpp"

namespace gdr::network {

enum class FileAction : std::uint32_t {
  Status = 1,  ///< of the file texts[0]: whether it exists, and its size
  List,        ///< of the folder texts[0]: names, and a word for each
  Sums,        ///< checksums of the chunks of texts[0], or of its part that has arrived
  Read,        ///< `bytes` at `offset` of texts[0], or what there is of them
  Create,      ///< begins to receive texts[0], of `bytes`; the reply has the sums of what is there
  Write,       ///< a chunk at `offset` of the file that is received
  Commit,      ///< the file is complete, with this checksum of all chunks
  Run,         ///< a job: device options, then its arguments
};

struct FileRequest {
  std::uint64_t number = 0;
  FileAction action{};
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t checksum = 0;  ///< Write: of the data; Commit: of all chunks
  std::vector<std::string> texts;
  Bytes data;
};

enum class FileAnswer : std::uint32_t {
  Done = 1,
  Failed,      ///< texts[0] is the reason; without one the server is out of memory
  Output,      ///< Run: texts[0] is what the job printed; other replies follow
  ErrorOutput  ///< the same of its standard error stream
};

struct FileReply {
  std::uint64_t number = 0;
  FileAnswer answer{};
  std::uint32_t category = 0;       ///< Failed: category of the error, as in the library
  std::uint64_t bytes = 0;          ///< size of the file; Run: exit status
  std::uint64_t checksum = 0;       ///< Read: of the data
  std::uint64_t version = 0;        ///< changes when the file is written; 0: it does not exist
  std::vector<std::uint64_t> sums;  ///< checksums of chunks; List: of each name, a folder, size
  std::vector<std::string> texts;
  Bytes data;
};

Bytes encode_request(const FileRequest& request);
Bytes encode_file_reply(const FileReply& reply);
/// These throw Error (Device) for a malformed message.
FileRequest decode_request(const Bytes& message);
FileReply decode_file_reply(const Bytes& message);
/// The files of a reply to List. Throws Error (Device) for a name that is none of a file in a
/// folder: clients write files of these names.
std::vector<driver::ServerFile> listed_files(const FileReply& reply);

}  // namespace gdr::network
