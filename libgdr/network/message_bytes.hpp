// Messages as bytes: what their parts are written and read with.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/network/protocol.hpp"

namespace gdr::network {

[[noreturn]] inline void malformed_message() {
  throw Error(ErrorCategory::Device,
              "a message of the other host is malformed; use a library and a server of the same "
              "release");
}

/// Bytes of a message whose size is known.
class MessageWriter {
 public:
  explicit MessageWriter(std::size_t bytes) : bytes_(bytes) {}
  void put(const void* from, std::size_t n) {
    if (n > 0) std::memcpy(bytes_.data() + at_, from, n);
    at_ += n;
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

/// Reads what a MessageWriter wrote; throws Error (Device) where the message is too short.
class MessageReader {
 public:
  explicit MessageReader(const Bytes& bytes) : bytes_(bytes) {}
  void get(void* to, std::uint64_t n) {
    if (n > bytes_.size() - at_) malformed_message();
    if (n > 0) std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
  }
  template <typename T>
  std::vector<T> items(std::uint64_t n) {
    if (n > (bytes_.size() - at_) / sizeof(T)) malformed_message();
    std::vector<T> v(n);
    get(v.data(), n * sizeof(T));
    return v;
  }
  std::string text(std::uint64_t n) {
    if (n > bytes_.size() - at_) malformed_message();
    std::string s(n, '\0');
    get(s.data(), n);
    return s;
  }
  void end() const {
    if (at_ != bytes_.size()) malformed_message();
  }

 private:
  const Bytes& bytes_;
  std::size_t at_ = 0;
};

}  // namespace gdr::network
