// File descriptors that close themselves, and errors of system calls.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "gdr/error.hpp"

namespace gdr::relay {

/// An open file.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// Throws gdr::Error with the reason of the last system call: Unsupported where the system does not
/// permit namespaces or TUN devices, else Io.
[[noreturn]] inline void system_error(const std::string& what,
                                      ErrorCategory category = ErrorCategory::Io) {
  throw Error(category, what + ": " + std::strerror(errno));
}

}  // namespace gdr::relay
