// Atomic replacement: write a temporary file in the same folder, sync, rename.
#include "libgdr/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "gdr/error.hpp"

namespace gdr {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view action, const std::string& path, int error_number) {
  throw Error(ErrorCategory::Io, io_message(action, path, error_number));
}

/// A file descriptor that closes itself.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() { close(); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const noexcept { return number_; }
  /// Some file systems report a failed write only here.
  int close() noexcept {
    const int number = number_;
    number_ = -1;
    return number < 0 ? 0 : ::close(number);
  }

 private:
  int number_;
};

/// A temporary file in the folder of `target`; removed unless it was renamed to `target`.
class Temporary {
 public:
  explicit Temporary(const fs::path& target)
      : name_((target.parent_path() / fmt::format(".{}.XXXXXX", target.filename().string()))
                  .string()),
        file_(::mkstemp(name_.data())) {
    if (file_.get() < 0) fail("create a file for", target.string(), errno);
  }
  ~Temporary() {
    if (!kept_) ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  OpenFile& file() noexcept { return file_; }
  void rename_to(const std::string& target) {
    if (::rename(name_.c_str(), target.c_str()) != 0) fail("write", target, errno);
    kept_ = true;
  }

 private:
  std::string name_;
  OpenFile file_;
  bool kept_ = false;
};

void write_all(int file, std::span<const char> content, const std::string& path) {
  constexpr std::size_t piece = std::size_t{1} << 30;  // one call may not write more than 2 GB
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), std::min(content.size(), piece));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    content = content.subspan(static_cast<std::size_t>(written));
  }
}

/// mkstemp creates files with mode 0600; set the mode of a new file, or of the replaced one.
void set_usual_mode(int file, const std::string& target) {
  struct stat old {};
  if (::stat(target.c_str(), &old) == 0) {
    // Without set-user-id bits: the new file may have another owner.
    ::fchmod(file, old.st_mode & 0777);
    return;
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
}

/// Sync the rename to the disk; folders that cannot be synced (some network file systems) are
/// ignored.
void sync_folder(const fs::path& folder) {
  OpenFile file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() >= 0) ::fsync(file.get());
}

/// The file to replace, with links resolved and an explicit folder.
fs::path resolve(const std::string& path) {
  std::error_code ignored;
  fs::path target(path);
  if (fs::is_symlink(target, ignored)) target = fs::weakly_canonical(target, ignored);
  if (target.parent_path().empty()) target = fs::path(".") / target;
  return target;
}

void write_directly(const std::string& path, std::span<const char> content) {
  OpenFile file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail("write", path, errno);
  write_all(file.get(), content, path);
  if (file.close() != 0) fail("write", path, errno);
}

}  // namespace

std::string io_message(std::string_view action, const std::string& path, int error_number) {
  std::string_view remedy;
  if (error_number == ENOSPC || error_number == EDQUOT)
    remedy = "; free some space or choose another folder";
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS)
    remedy = "; choose a folder with write permission";
  if (error_number == ENOENT) remedy = "; check the spelling";
  return fmt::format("cannot {} '{}': {}{}", action, path, std::strerror(error_number), remedy);
}

void write_file_atomically(const std::string& path, std::span<const char> content) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("write", path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_directly(path, content);

  const fs::path target = resolve(path);
  Temporary temporary(target);
  OpenFile& file = temporary.file();
  write_all(file.get(), content, path);
  set_usual_mode(file.get(), target.string());
  if (::fsync(file.get()) != 0) fail("write", path, errno);
  if (file.close() != 0) fail("write", path, errno);
  temporary.rename_to(target.string());
  sync_folder(target.parent_path());
}

std::string write_private_file(const std::string& folder, std::string_view prefix,
                               std::string_view suffix, std::span<const char> content) {
  const std::string name = fmt::format("{}XXXXXX{}", prefix, suffix);
  std::string path = (fs::path(folder) / name).string();
  // Opens with O_CREAT | O_EXCL and mode 0600: a file or link of that name is never opened.
  OpenFile file(::mkostemps(path.data(), static_cast<int>(suffix.size()), O_CLOEXEC));
  if (file.get() < 0) fail("create a file in", folder, errno);
  try {
    write_all(file.get(), content, path);
    if (::fsync(file.get()) != 0 || file.close() != 0) fail("write", path, errno);
  } catch (const Error&) {
    ::unlink(path.c_str());
    throw;
  }
  return path;
}

void make_writable_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("create the folder", folder, error.value());
  check_writable((fs::path(folder) / "probe").string());
}

void check_writable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail("write", path, EISDIR);
    if (!S_ISREG(status.st_mode)) return;
  }
  Temporary proof(resolve(path));
}

std::string read_file(const std::string& path) {
  OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("read", path, errno);
  std::string content;
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && status.st_size > 0)
    content.reserve(static_cast<std::size_t>(status.st_size) + 1);
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (;;) {
    const std::size_t before = content.size();
    content.resize(before + piece);
    const ssize_t got = ::read(file.get(), content.data() + before, piece);
    content.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return content;
    if (got < 0 && errno != EINTR) fail("read", path, errno);
  }
}

}  // namespace gdr
