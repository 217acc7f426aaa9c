// What Linux does for VFIO, so that tests can be the kernel.
#pragma once

#include <string>

namespace gdr::driver {

class VfioKernel {
 public:
  virtual ~VfioKernel() = default;
  /// As open(2) for reading and writing: a file, or -1 and errno.
  virtual int open(const std::string& path);
  /// As ioctl(2). `argument` is a pointer or a number, as the request wants it.
  virtual int control(int file, unsigned long request, void* argument);
};

/// The kernel that boards are opened with from now on, for tests; null: Linux.
void use_vfio_kernel(VfioKernel* kernel) noexcept;

}  // namespace gdr::driver
