// System calls for VFIO, which tests replace.
#pragma once

#include <string>

namespace gdr::driver {

class VfioKernel {
 public:
  virtual ~VfioKernel() = default;
  /// open(2) for reading and writing: a file descriptor, or -1 and errno.
  virtual int open(const std::string& path);
  /// ioctl(2). `argument` is a pointer or a number, depending on the request.
  virtual int control(int file, unsigned long request, void* argument);
};

/// Replaces the system calls for boards opened afterwards, for tests; null: those of Linux.
void use_vfio_kernel(VfioKernel* kernel) noexcept;

}  // namespace gdr::driver
