// Owners of file descriptors and mapped memory, and polling of files.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "gdr/error.hpp"

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

/// A shared mapping of a file.
class Mapping {
 public:
  Mapping() = default;
  /// Maps `bytes` of a file from `offset` on. Throws Error (Device) naming `what` if the file
  /// cannot be mapped or is shorter: an access beyond its end raises SIGBUS.
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

/// Allocates memory to be shared with another process. All pages are reserved, and the size is
/// sealed. Throws Error (Device) if there is not enough memory.
File make_shared_memory(const char* name, std::size_t bytes);

/// Polls files, at most for `limit`. Whether one is ready; false also after a signal.
bool poll_files(std::span<pollfd> files, std::chrono::nanoseconds limit) noexcept;

/// The text of errno.
std::string system_error();

/// An error of category Device.
inline Error device_error(const std::string& message) { return {ErrorCategory::Device, message}; }

}  // namespace gdr::driver
