#include "libgdr/io/hdf5_handle.hpp"

namespace gdr::hdf5 {

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = other.id_;
    close_ = other.close_;
    other.id_ = -1;
  }
  return *this;
}

bool Handle::reset() noexcept {
  const hid_t id = id_;
  id_ = -1;
  return id < 0 || close_(id) >= 0;
}

void silence() noexcept { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string last_failure() {
  std::string description;
  const auto keep = [](unsigned, const H5E_error2_t* entry, void* text) -> herr_t {
    // The walk goes from the call upward: the first entry is where it went wrong.
    auto& kept = *static_cast<std::string*>(text);
    if (kept.empty() && entry->desc != nullptr) kept = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep, &description);
  return description.empty() ? "unknown reason" : description;
}

}  // namespace gdr::hdf5
