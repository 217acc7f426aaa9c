// File descriptors and mapped memory that clean up after themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace gdr::driver {

class File {
 public:
  File() = default;
  explicit File(int fd) noexcept : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File();
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void close() noexcept { File().swap(*this); }

 private:
  void swap(File& other) noexcept { std::swap(fd_, other.fd_); }
  int fd_ = -1;
};

/// Shared memory of a file, until the object goes.
class Mapping {
 public:
  Mapping() = default;
  /// From `offset` of the file on. Throws Error (Device) naming `what` if it cannot be mapped, or
  /// ends before: what is behind a file's end kills who looks at it.
  Mapping(const File& file, std::size_t bytes, const std::string& what, std::uint64_t offset = 0);
  Mapping(Mapping&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();
  std::byte* data() const noexcept { return memory_; }
  std::size_t size() const noexcept { return bytes_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Memory that can be lent to another process, which cannot make it smaller or larger; all of it is
/// there from the beginning. Throws Error (Device) if there is not enough.
File make_shared_memory(const char* name, std::size_t bytes);

/// The text of errno.
std::string system_error();

}  // namespace gdr::driver
