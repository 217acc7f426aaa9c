// Programs that the fake NVRTC has compiled, and the fake driver loads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/host/gpu/device.hpp"

namespace gdr::test::fake_cuda {

/// A text that the OpenCL device has compiled.
struct Compiled {
  std::shared_ptr<const gpu::Kernel> kernel;
  std::vector<bool> is_pointer;  ///< by argument of the kernel
};

/// The OpenCL device that executes everything; null without one.
std::shared_ptr<gpu::Device> opencl_device();

/// Keeps a program; returns the text that an image of it has.
std::string keep(const Compiled& compiled, const std::string& target);
/// The program of an image; null if it is none. `target`: that of `keep`.
const Compiled* program_of(const std::string& image, std::string& target);

}  // namespace gdr::test::fake_cuda
