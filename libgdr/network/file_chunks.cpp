#include "libgdr/network/file_chunks.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "emulator/board/hardware/checksum.hpp"
#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::network {

std::uint64_t chunk_checksum(std::span<const std::byte> data) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  std::vector<std::uint64_t> words(data.size() / word + 1);
  words.back() = data.size();
  std::uint64_t rest = 0;
  if (!data.empty()) std::memcpy(words.data(), data.data(), data.size() / word * word);
  if (data.size() % word != 0)
    std::memcpy(&rest, data.data() + data.size() / word * word, data.size() % word);
  return join_checksums(checksum(words), checksum({&rest, 1}));
}

std::uint64_t file_checksum(std::span<const std::uint64_t> chunks) { return checksum(chunks); }

void read_bytes(const driver::File& file, std::uint64_t offset, std::span<std::byte> to,
                const std::string& name) {
  while (!to.empty()) {
    const ssize_t n = pread(file.get(), to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorCategory::Io, io_message("read", name, errno));
    if (n == 0)
      throw Error(ErrorCategory::Io, "'" + name + "' has become shorter while it was read");
    to = to.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

Bytes read_chunk(const driver::File& file, std::uint64_t chunk, std::uint64_t file_bytes,
                 const std::string& name) {
  Bytes data(chunk_size(chunk, file_bytes));
  read_bytes(file, chunk * chunk_bytes, data, name);
  return data;
}

void write_bytes(const driver::File& file, std::uint64_t offset, std::span<const std::byte> from,
                 const std::string& name) {
  while (!from.empty()) {
    const ssize_t n = pwrite(file.get(), from.data(), from.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorCategory::Io, io_message("write", name, errno));
    from = from.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

Lock lock_part(const driver::File& file, int folder, const std::string& path) {
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) return Lock::Busy;
  struct stat locked {
  }, there{};
  const bool same = fstat(file.get(), &locked) == 0 &&
                    fstatat(folder, path.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                    locked.st_ino == there.st_ino && locked.st_dev == there.st_dev;
  return same ? Lock::Held : Lock::Lost;
}

}  // namespace gdr::network
