// Object files on disk: complete reads, atomic replacement.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Size limit of object files (the largest programs have a few megabytes).
constexpr std::size_t max_bytes = std::size_t{1} << 30;

[[noreturn]] void fail(const std::string& path, std::string_view doing, int error) {
  throw Error(ErrorCategory::Io,
              fmt::format("{} cannot be {}: {}", path, doing, std::strerror(error)));
}

/// A file descriptor with automatic close.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }
  /// close() may report a full disk.
  bool close() noexcept { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

/// Removes a temporary file unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  void release() noexcept { path_.clear(); }

 private:
  std::string path_;
};

void write_all(int file, std::span<const std::uint8_t> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path, "written", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

/// A new file beside `path` with a unique name, returned in `name`. Unlike with mkstemp, it has
/// default permissions.
int open_temporary(const std::string& path, std::string& name) {
  static std::atomic<unsigned> counter{0};
  for (;;) {
    name = fmt::format("{}.{}-{}.tmp", path, ::getpid(), counter++);
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

}  // namespace

Program read_object_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail(path, "opened", errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail(path, "read", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "read", EISDIR);
  std::vector<std::uint8_t> bytes;
  std::array<std::uint8_t, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read", errno);
    if (got == 0) break;
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + got);
    if (bytes.size() > max_bytes) fail(path, "read", EFBIG);
  }
  return read_object(bytes, path);
}

void write_object_file(const std::string& path, const Program& program) {
  const auto bytes = write_object(program);
  std::string temporary;
  Descriptor file(open_temporary(path, temporary));
  if (file.number() < 0) fail(path, "written", errno);
  TemporaryFile cleanup(temporary);
  write_all(file.number(), bytes, path);
  // Data must reach the disk before the rename.
  if (::fsync(file.number()) != 0 || !file.close() ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    fail(path, "written", errno);
  }
  cleanup.release();
}

}  // namespace gdr
