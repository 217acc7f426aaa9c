#include "libgdr/driver/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace gdr::driver {

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

Mapping::Mapping(const File& file, std::size_t bytes, const std::string& what, std::uint64_t offset)
    : bytes_(bytes) {
  struct stat status {};
  const bool sized = fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
  if (sized && static_cast<std::uint64_t>(status.st_size) < offset + bytes)
    throw device_error(what + " has " + std::to_string(status.st_size) + " bytes instead of " +
                       std::to_string(offset + bytes));
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(),
                            static_cast<off_t>(offset));
  if (memory == MAP_FAILED) throw device_error(what + " cannot be mapped: " + system_error());
  memory_ = static_cast<std::byte*>(memory);
}

Mapping::~Mapping() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

File make_shared_memory(const char* name, std::size_t bytes) {
  const auto fail = [&] {
    throw device_error("shared memory of " + std::to_string(bytes) +
                       " bytes cannot be allocated: " + system_error());
  };
  File file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) fail();
  // Reserve all pages now: a missing page would raise SIGBUS later.
  if (const int code = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)); code != 0) {
    errno = code;
    fail();
  }
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) fail();
  return file;
}

bool poll_files(std::span<pollfd> files, std::chrono::nanoseconds limit) noexcept {
  const timespec time{limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
  return ppoll(files.data(), files.size(), &time, nullptr) > 0;
}

std::string system_error() { return std::generic_category().message(errno); }

}  // namespace gdr::driver
