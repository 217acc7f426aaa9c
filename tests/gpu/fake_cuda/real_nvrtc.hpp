// A real NVRTC beside the fake one.
#pragma once

#include <string>

namespace gdr::test::fake_cuda {

/// The first error of the library that GDR_TEST_NVRTC names for a text in the dialect, which it
/// compiles for several architectures; empty without an error, or without the variable.
std::string refused_by_real_nvrtc(const std::string& dialect);

}  // namespace gdr::test::fake_cuda
