#include "libgdr/cli/gpus.hpp"

#include "emulator/engine/gpu/cards.hpp"
#include "emulator/engine/vector/gpu/self_test.hpp"
#include "emulator/host/gpu/device.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"

namespace gdr::cli {

std::vector<TestedGpu> tested_gpus() {
  std::vector<TestedGpu> all;
  for (const gpu::DeviceInfo& device : gpu::devices()) {
    const Stopwatch stopwatch;
    TestedGpu gpu{std::to_string(all.size()), gpu::description(device), {}};
    try {
      gpu.failure = exactness_failure(*gpu::open_device(gpu.name));
    } catch (const Error& error) {
      gpu.failure = error.what();
    }
    gpu.is_default = all.size() == default_gpu();
    gpu.seconds = stopwatch.seconds();
    all.push_back(std::move(gpu));
  }
  return all;
}

}  // namespace gdr::cli
