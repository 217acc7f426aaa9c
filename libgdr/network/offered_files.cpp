#include "libgdr/network/offered_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/network/file_chunks.hpp"

namespace gdr::network {
namespace {

using driver::File;
using driver::ServerFile;

constexpr std::size_t max_path_name = 4096, max_listed = 100000;

[[noreturn]] void refuse_file(std::string_view action, const std::string& name) {
  if (errno == ELOOP || errno == EXDEV)
    throw Error(ErrorCategory::Io,
                "cannot " + std::string(action) + " '" + name +
                    "': it is, or lies behind, a symbolic link or leads out of "
                    "the folder that the server offers; servers follow no links");
  throw Error(ErrorCategory::Io, io_message(action, name, errno));
}

/// Opens a path below a folder without following symbolic links (Linux 5.6).
File open_below(int folder, const std::string& path, int flags, mode_t mode = 0) {
  open_how how{};
  // A pipe or a device must not keep the server waiting.
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC |
                                         ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK | O_NOCTTY));
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return File(static_cast<int>(
      syscall(SYS_openat2, folder, path.empty() ? "." : path.c_str(), &how, sizeof(how))));
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}
std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

struct stat status_of(const File& file) {
  struct stat status {};
  fstat(file.get(), &status);
  return status;
}

ServerFile described(const std::string& name, const struct stat& status) {
  return {name, true, S_ISDIR(status.st_mode), static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace

std::uint64_t version_of(const File& file) {
  const struct stat s = status_of(file);
  const std::uint64_t parts[] = {static_cast<std::uint64_t>(s.st_size),
                                 static_cast<std::uint64_t>(s.st_mtim.tv_sec),
                                 static_cast<std::uint64_t>(s.st_mtim.tv_nsec), s.st_ino};
  return file_checksum(parts) | 1;
}

ArrivingFile::ArrivingFile(File folder, std::string last, std::string name, std::uint64_t bytes)
    : folder_(std::move(folder)),
      last_(std::move(last)),
      part_(last_ + std::string(part_suffix)),
      name_(std::move(name)),
      bytes_(bytes) {
  struct stat old {};
  if (fstatat(folder_.get(), last_.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(old.st_mode))
    throw Error(ErrorCategory::Io,
                "cannot write '" + name_ + "': it exists and is no regular file");
  for (Lock lock = Lock::Lost; lock == Lock::Lost;) {
    file_ = open_below(folder_.get(), part_, O_RDWR | O_CREAT, 0666);
    if (!file_) refuse_file("write", name_ + std::string(part_suffix));
    lock = lock_part(file_, folder_.get(), part_);
    if (lock == Lock::Busy)
      throw Error(ErrorCategory::Io, "'" + name_ + "' is being copied by another client");
  }
  const struct stat status = status_of(file_);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCategory::Io, "cannot write '" + name_ + "': '" + part_ + "' is no file");
  const std::uint64_t left = std::min(static_cast<std::uint64_t>(status.st_size), bytes_);
  if (static_cast<std::uint64_t>(status.st_size) > bytes_ &&
      ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0)
    refuse_file("write", name_);
  for (std::uint64_t k = 0;
       k * chunk_bytes + chunk_size(k, bytes_) <= left && k < chunk_count(bytes_); ++k) {
    sums_.push_back(chunk_checksum(read_chunk(file_, k, bytes_, name_)));
  }
  has_.assign(sums_.size(), true);
  has_.resize(chunk_count(bytes_));
}

void ArrivingFile::write(std::uint64_t offset, const Bytes& data, std::uint64_t sum) {
  const std::uint64_t chunk = offset / chunk_bytes;
  if (offset % chunk_bytes != 0 || chunk >= has_.size() || data.size() != chunk_size(chunk, bytes_))
    throw Error(ErrorCategory::Device, "a chunk of '" + name_ + "' is none of the file");
  if (chunk_checksum(data) != sum)
    throw Error(ErrorCategory::Io, "a chunk of '" + name_ + "' at " + std::to_string(offset) +
                                       " has arrived with another checksum; copy it again");
  write_bytes(file_, offset, data, name_);
  // Begin to write to the disk now, so that little is left at the end.
  sync_file_range(file_.get(), static_cast<off_t>(offset), static_cast<off_t>(data.size()),
                  SYNC_FILE_RANGE_WRITE);
  sums_.resize(std::max<std::size_t>(sums_.size(), chunk + 1));
  sums_[chunk] = sum;
  has_[chunk] = true;
}

void ArrivingFile::commit(std::uint64_t sum) {
  if (!std::ranges::all_of(has_, [](bool has) { return has; }) || file_checksum(sums_) != sum)
    throw Error(ErrorCategory::Io, "'" + name_ + "' has not arrived as it was sent; copy it again");
  struct stat old {};
  if (fstatat(folder_.get(), last_.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0)
    fchmod(file_.get(), old.st_mode & 0777);
  if (fdatasync(file_.get()) != 0) refuse_file("write", name_);
  if (renameat(folder_.get(), part_.c_str(), folder_.get(), last_.c_str()) != 0)
    refuse_file("write", name_);
  fsync(folder_.get());
}

OfferedFiles::OfferedFiles(const driver::OfferedFolder& offered) : offered_(offered) {
  folder_ = File(::open(offered.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) refuse_file("open", offered.path);
  session_folder_ = offered.session_folders + "/XXXXXX";
  if (mkdtemp(session_folder_.data()) == nullptr) refuse_file("create", session_folder_);
  session_ = File(::open(session_folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!session_ || symlinkat(offered.path.c_str(), session_.get(), "server:") != 0) {
    const int reason = errno;
    std::error_code ignored;
    std::filesystem::remove_all(session_folder_, ignored);
    errno = reason;
    refuse_file("create", session_folder_);
  }
}

OfferedFiles::~OfferedFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(session_folder_, ignored);
}

OfferedFiles::Place OfferedFiles::place_of(const std::string& name) const {
  const bool at_server = name.starts_with(driver::server_prefix);
  std::string path = at_server ? name.substr(driver::server_prefix.size()) : name;
  path.erase(0, std::min(path.find_first_not_of('/'), path.size()));
  while (path.ends_with('/')) path.pop_back();
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..")
      throw Error(ErrorCategory::Usage,
                  "'" + name + "': names of files of a server must not contain '..'");
    at = end + 1;
  }
  if (name.size() > max_path_name || name.find('\0') != std::string::npos ||
      (!at_server && path.empty()))
    throw Error(ErrorCategory::Usage, "a name of a file is empty, too long or contains a zero");
  return {at_server ? folder_.get() : session_.get(), path, at_server};
}

void OfferedFiles::check_writable(const Place& place, const std::string& name) const {
  if (place.at_server && !offered_.writable)
    throw Error(ErrorCategory::Io,
                "cannot write '" + name +
                    "': the server's files are read-only; gdr serve --files-writable permits it");
}

ServerFile OfferedFiles::status(const std::string& name) const {
  const Place place = place_of(name);
  const File file = open_below(place.folder, place.path, O_PATH);
  if (!file && errno == ENOENT) return {last_of(place.path), false, false, 0};
  if (!file) refuse_file("read", name);
  return described(last_of(place.path), status_of(file));
}

std::vector<ServerFile> OfferedFiles::list(const std::string& folder) const {
  const Place place = place_of(folder);
  const File file = open_below(place.folder, place.path, O_RDONLY | O_DIRECTORY);
  if (!file) refuse_file("read", folder);
  DIR* const entries = fdopendir(dup(file.get()));
  if (entries == nullptr) refuse_file("read", folder);
  std::vector<ServerFile> found;
  while (const dirent* const entry = readdir(entries)) {
    const std::string name = entry->d_name;
    struct stat status {};
    if (name == "." || name == ".." || found.size() >= max_listed) continue;
    if (fstatat(file.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
      found.push_back(described(name, status));
  }
  closedir(entries);
  std::ranges::sort(found, {}, &ServerFile::name);
  return found;
}

OpenedFile OfferedFiles::open(const std::string& name) const {
  const Place place = place_of(name);
  OpenedFile opened{name, open_below(place.folder, place.path, O_RDONLY), 0, 0};
  if (!opened.file) refuse_file("read", name);
  const struct stat status = status_of(opened.file);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCategory::Io, "cannot read '" + name + "': it is no regular file");
  opened.bytes = static_cast<std::uint64_t>(status.st_size);
  opened.version = version_of(opened.file);
  return opened;
}

std::unique_ptr<ArrivingFile> OfferedFiles::create(const std::string& name, std::uint64_t bytes) {
  const Place place = place_of(name);
  check_writable(place, name);
  const std::uint64_t sum =
      place.at_server ? bytes : arrived_ + std::min(bytes, offered_.max_bytes + 1);
  if (sum > offered_.max_bytes)
    throw Error(ErrorCategory::Io, "'" + name + "' of " + std::to_string(bytes) +
                                       " bytes exceeds what the server accepts, " +
                                       std::to_string(offered_.max_bytes) +
                                       "; raise it with gdr serve --files-limit");
  if (!place.at_server) arrived_ = sum;
  File folder = open_below(place.folder, folder_of(place.path), O_RDONLY | O_DIRECTORY);
  if (folder && place.path.empty()) errno = EISDIR;
  if (!folder || place.path.empty()) refuse_file("write", name);
  return std::make_unique<ArrivingFile>(std::move(folder), last_of(place.path), name, bytes);
}

void OfferedFiles::check_input(const std::string& name) const {
  if (const OpenedFile file = open(name); file.bytes > offered_.max_bytes)
    throw Error(ErrorCategory::Io, "'" + name + "' of " + std::to_string(file.bytes) +
                                       " bytes exceeds what the server accepts, " +
                                       std::to_string(offered_.max_bytes) +
                                       "; raise it with gdr serve --files-limit");
}

void OfferedFiles::check_output(const std::string& name) const {
  const Place place = place_of(name);
  check_writable(place, name);
  // What exists of the path must not be a link; the command creates the rest, or says why not.
  for (std::string path = place.path;; path = folder_of(path)) {
    const File file = open_below(place.folder, path, O_PATH | O_NOFOLLOW);
    const mode_t mode = file ? status_of(file).st_mode : 0;
    if (S_ISREG(mode) || S_ISDIR(mode)) return;
    if (file && !S_ISLNK(mode))
      throw Error(ErrorCategory::Io,
                  "cannot write '" + name + "': it exists and is no regular file");
    if (file) errno = ELOOP;
    if (errno != ENOENT) refuse_file("write", name);
    if (path.empty()) return;
  }
}

}  // namespace gdr::network
