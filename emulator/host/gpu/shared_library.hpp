// Libraries of drivers and vendors, opened at run time.
#pragma once

#include <dlfcn.h>

#include <string>

namespace gdr::gpu {

/// A library and its functions. Never closed: drivers have threads.
class SharedLibrary {
 public:
  explicit SharedLibrary(const std::string& name)
      : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  bool is_open() const noexcept { return handle_ != nullptr; }
  /// Sets a pointer to the function with this name, to null if there is none.
  template <typename Function>
  void find(Function*& function, const char* name) {
    function = is_open() ? reinterpret_cast<Function*>(dlsym(handle_, name)) : nullptr;
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  /// The first function that was not found; empty: all were.
  const std::string& missing() const noexcept { return missing_; }
  bool is_complete() const noexcept { return missing_.empty(); }

 private:
  void* handle_;
  std::string missing_;
};

}  // namespace gdr::gpu
