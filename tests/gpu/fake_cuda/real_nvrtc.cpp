#include "gpu/fake_cuda/real_nvrtc.hpp"

#include "emulator/host/gpu/cuda/compiler.hpp"
#include "gdr/error.hpp"
#include "gpu/fake_cuda/settings.hpp"

namespace gdr::test::fake_cuda {

std::string refused_by_real_nvrtc(const std::string& dialect) {
  const std::string path = text_setting("GDR_TEST_NVRTC");
  if (path.empty()) return {};
  static const auto* const compiler =
      new std::unique_ptr<gpu::cuda::Compiler>(gpu::cuda::open_compiler(path));
  if (*compiler == nullptr) return "GDR_TEST_NVRTC: " + path + " is no NVRTC";
  try {
    for (const int capability : {70, 75, 80, 90})
      if ((*compiler)->makes_binary(capability)) (*compiler)->compile(dialect, capability, false);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace gdr::test::fake_cuda
