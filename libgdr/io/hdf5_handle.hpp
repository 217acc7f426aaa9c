// HDF5 identifiers that close themselves, and the library's own words about its last failure.
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
  /// Close now; false if the library says that it failed.
  bool reset() noexcept;

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Keep the HDF5 library from printing its errors. In force for the thread that calls it.
void silence() noexcept;

/// What the HDF5 library says about the failure of its last call.
std::string last_failure();

}  // namespace gdr::hdf5
