// Files of the cache: magic, checksum, length of the key, key, text. A file is written under
// another name and renamed, so that no process reads a part of it.
#include "kernels/compiler/cache/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "emulator/host/hash.hpp"

namespace gdr::kc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "GDRCACHE";
constexpr std::size_t hash_digits = 16;
constexpr std::string_view suffix = ".kernel";
/// Appended to the name while a file is written.
constexpr std::string_view temporary_suffix = ".XXXXXX";
/// A temporary file of this age was left by a process that was killed.
constexpr std::chrono::hours abandoned_after{1};

std::string file_name(std::string_view key) {
  return fmt::format("{:016x}{}", Hash().add(key).value(), suffix);
}

/// Whether a name is of a stored file, or of a temporary one: a folder that also has other files
/// keeps them.
enum class NameKind { Foreign, Stored, Temporary };
NameKind kind_of(std::string_view name) {
  if (name.size() < hash_digits + suffix.size()) return NameKind::Foreign;
  const std::string_view digits = name.substr(0, hash_digits);
  if (!std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c) != 0; }) ||
      name.substr(hash_digits, suffix.size()) != suffix)
    return NameKind::Foreign;
  const std::string_view rest = name.substr(hash_digits + suffix.size());
  if (rest.empty()) return NameKind::Stored;
  return rest.size() == temporary_suffix.size() && rest.front() == '.' ? NameKind::Temporary
                                                                       : NameKind::Foreign;
}

std::string number_text(std::uint64_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string checksum(std::string_view rest) { return number_text(Hash().add(rest).value()); }

std::string file_content(std::string_view key, std::string_view text) {
  const std::string rest = number_text(key.size()).append(key).append(text);
  return std::string(magic).append(checksum(rest)).append(rest);
}

/// The text in a file with this key; none if the file is damaged or has another key.
std::optional<std::string> text_in(std::string_view content, std::string_view key) {
  const auto skip = [&](std::string_view expected) {
    if (!content.starts_with(expected)) return false;
    content.remove_prefix(expected.size());
    return true;
  };
  if (!skip(magic) || content.size() < sizeof(std::uint64_t)) return {};
  if (!skip(checksum(content.substr(sizeof(std::uint64_t))))) return {};
  if (!skip(number_text(key.size())) || !skip(key)) return {};
  return std::string(content);
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  /// Whether all was well; some file systems report a failed write only here.
  bool close() noexcept { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// The content of a regular file of at most so many bytes.
std::optional<std::string> content_of(int file, std::uint64_t max_bytes) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes) return {};
  std::string content(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file, content.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    done += static_cast<std::size_t>(got);
  }
  return content;
}

/// Why other users may have written this file or folder; empty: only this user or root can.
std::string distrust_of(int file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return {};
  std::string why;
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    why = fmt::format("belongs to user {}, neither to this user nor to root", status.st_uid);
  else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    why = "can be written by others (chmod go-w ends that)";
  if (why.empty()) return {};
  return fmt::format("'{}' is not read from the cache of compiled kernels: it {}", path.string(),
                     why);
}

Descriptor open_folder(const fs::path& folder) {
  return Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}
/// A pipe of that name must not block.
Descriptor open_file(const Descriptor& folder, const std::string& name) {
  return Descriptor(::openat(folder.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

}  // namespace

std::optional<CacheFolder> CacheFolder::of_user() {
  if (const std::string_view given = variable("GDR_CACHE_DIR"); !given.empty()) {
    if (given == "none") return {};
    return CacheFolder(given);
  }
  // A relative path is invalid there (XDG base directory specification).
  if (const fs::path caches = variable("XDG_CACHE_HOME"); caches.is_absolute())
    return CacheFolder(caches / "gdr");
  if (const fs::path home = variable("HOME"); home.is_absolute())
    return CacheFolder(home / ".cache" / "gdr");
  return {};
}

std::optional<std::string> CacheFolder::load(std::string_view key) const {
  const std::string name = file_name(key);
  const Descriptor folder = open_folder(folder_);
  if (!folder.is_open() || !distrust_of(folder.get(), folder_).empty()) return {};
  const Descriptor file = open_file(folder, name);
  if (!file.is_open() || !distrust_of(file.get(), folder_ / name).empty()) return {};
  const std::optional<std::string> content = content_of(file.get(), max_bytes_);
  if (!content) return {};
  std::optional<std::string> text = text_in(*content, key);
  // By its name: a file that is open for reading only can be touched, too.
  if (text) ::utimensat(folder.get(), name.c_str(), nullptr, 0);
  return text;
}

std::string CacheFolder::distrust(std::string_view key) const {
  const Descriptor folder = open_folder(folder_);
  if (!folder.is_open()) return {};
  std::string why = distrust_of(folder.get(), folder_);
  if (!why.empty()) return why;
  const std::string name = file_name(key);
  const Descriptor file = open_file(folder, name);
  return file.is_open() ? distrust_of(file.get(), folder_ / name) : "";
}

void CacheFolder::store(std::string_view key, std::string_view text) const {
  const std::string content = file_content(key, text);
  if (content.size() > max_bytes_) return;
  std::error_code error;
  fs::create_directories(folder_.parent_path(), error);
  // Only for this user, as all of ~/.cache is.
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return;
  if (const Descriptor folder = open_folder(folder_);
      !folder.is_open() || !distrust_of(folder.get(), folder_).empty())
    return;
  const fs::path path = folder_ / file_name(key);
  std::string temporary = path.string().append(temporary_suffix);
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return;
  // Not synced to the disk: after a crash the checksum tells.
  const bool written = write_all(file.get(), content);
  if (!file.close() || !written || ::rename(temporary.c_str(), path.c_str()) != 0)
    ::unlink(temporary.c_str());
  else
    trim();
}

void CacheFolder::trim() const {
  struct Stored {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<Stored> files;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const NameKind kind = kind_of(at->path().filename().string());
    if (kind == NameKind::Foreign) continue;
    std::error_code gone;  // another process may have removed it
    const fs::file_time_type used = at->last_write_time(gone);
    const std::uint64_t size = gone ? 0 : at->file_size(gone);
    if (gone) continue;
    if (kind == NameKind::Stored) {
      files.push_back({at->path(), used, size});
      bytes += size;
    } else if (fs::file_time_type::clock::now() - used > abandoned_after) {
      fs::remove(at->path(), gone);
    }
  }
  std::ranges::sort(files, {}, &Stored::used);
  for (const Stored& file : files) {
    if (bytes <= max_bytes_) return;
    std::error_code gone;
    fs::remove(file.path, gone);
    bytes -= file.bytes;
  }
}

}  // namespace gdr::kc
