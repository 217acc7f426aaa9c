// A folder of cached texts on the disk, shared by all processes of a user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gdr::kc {

/// Texts by key, each in a file that is named by a hash of its key. A file also holds the key, so
/// that equal hashes are harmless, and a checksum: damaged and foreign files are as good as none.
/// A checksum does not tell who wrote a file: what others than the user and root can write is not
/// read. Nothing here fails: without a usable folder nothing is found and nothing stored. Any
/// number of processes and threads may use a folder at a time.
class CacheFolder {
 public:
  static constexpr std::uint64_t usual_bytes = 256ULL << 20;

  /// `max_bytes`: bound on the size of all files.
  explicit CacheFolder(std::filesystem::path folder, std::uint64_t max_bytes = usual_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  /// The folder of the user (docs/reference/environment.md); none if the cache is turned off or
  /// there is no home folder.
  static std::optional<CacheFolder> of_user();

  /// The text that was stored with this key; it becomes the most recently used one.
  std::optional<std::string> load(std::string_view key) const;
  /// One sentence that says why the folder or the file of this key is not read: it belongs to
  /// another user than this one or root, or others may write to it. Empty if that is not so.
  std::string distrust(std::string_view key) const;
  /// Store a text, then remove the least recently used ones beyond the bound.
  void store(std::string_view key, std::string_view text) const;

 private:
  void trim() const;

  std::filesystem::path folder_;
  std::uint64_t max_bytes_;
};

}  // namespace gdr::kc
