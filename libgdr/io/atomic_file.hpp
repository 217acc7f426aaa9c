// Atomic replacement of files, and private new files.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gdr {

/// Replace the file `path` by `content`: a temporary file in the same folder, written, synced to
/// the disk, then renamed over it. A failure removes the temporary file and leaves the file at
/// `path` as it was. A device or a pipe (/dev/stdout) is written to directly. Throws Error (Io)
/// naming the path.
void write_file_atomically(const std::string& path, std::span<const char> content);

/// Write `content` to a new file in `folder`, which other users may write to as well (/tmp), and
/// return its path. The name is PREFIX, six random characters, SUFFIX. The file is created
/// exclusively with mode 0600: an existing file or symbolic link of that name is never opened. A
/// failure removes the file. Throws Error (Io).
std::string write_private_file(const std::string& folder, std::string_view prefix,
                               std::string_view suffix, std::span<const char> content);

/// Create `folder` and its parents, and check that files can be created in it. Throws Error (Io).
void make_writable_folder(const std::string& folder);

/// Throws Error (Io) unless a file can be created at `path`: its folder exists and is writable, and
/// `path` is no folder.
void check_writable(const std::string& path);

/// The whole content of a file. Throws Error (Io) naming the path.
std::string read_file(const std::string& path);

/// "cannot ACTION 'PATH': REASON", with the reason of an errno value.
std::string io_message(std::string_view action, const std::string& path, int error_number);

}  // namespace gdr
