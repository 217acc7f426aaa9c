// What tests tell the fake CUDA library, by environment variables that are read at every call.
#pragma once

#include <cstdlib>
#include <string>

namespace gdr::test::fake_cuda {

inline std::string text_setting(const char* name) {
  const char* const given = std::getenv(name);
  return given == nullptr ? "" : given;
}
inline int number_setting(const char* name, int otherwise) {
  const std::string text = text_setting(name);
  return text.empty() ? otherwise : std::stoi(text);
}

/// Cards, of which each is the first OpenCL device.
inline int device_count() { return number_setting("GDR_FAKE_CUDA_DEVICES", 1); }
/// Compute capability: 90 is 9.0.
inline int capability() { return number_setting("GDR_FAKE_CUDA_CAPABILITY", 90); }
/// CUDA's version of the driver.
inline int driver_version() { return number_setting("GDR_FAKE_CUDA_DRIVER", 12040); }

/// Whether NVRTC has options for ptxas, which its early versions lack.
inline bool takes_ptxas_options() { return number_setting("GDR_FAKE_NVRTC_PTXAS_OPTIONS", 1) != 0; }
/// The result that a function must return instead of doing something, or 0. GDR_FAKE_CUDA_FAIL has
/// items FUNCTION=RESULT, separated by commas; with "once" behind them, the first call after a
/// change of the variable fails, otherwise all do. The result "abort" ends the process.
int injected(const char* function);

}  // namespace gdr::test::fake_cuda
