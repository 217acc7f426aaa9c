// HDF5 identifiers that close themselves, and the library's description of its last failure.
#pragma once

#include <hdf5.h>

#include <string>

namespace gdr::hdf5 {

/// An HDF5 identifier that closes itself.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Handle& operator=(Handle&& other) noexcept;
  hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }
  /// Close now; false on failure.
  bool reset() noexcept;

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Disable the HDF5 library's error messages in the calling thread.
void silence() noexcept;

/// The HDF5 library's description of its last failure.
std::string last_failure();

}  // namespace gdr::hdf5
