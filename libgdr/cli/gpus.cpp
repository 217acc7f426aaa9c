#include "libgdr/cli/gpus.hpp"

#include "emulator/engine/vector/gpu/self_test.hpp"
#include "emulator/host/opencl.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"

namespace gdr::cli {

std::vector<TestedGpu> tested_gpus() {
  std::vector<TestedGpu> all;
  for (const opencl::DeviceInfo& device : opencl::devices()) {
    const Stopwatch stopwatch;
    TestedGpu gpu{std::to_string(all.size()), opencl::description(device), {}};
    try {
      gpu.failure = exactness_failure(*opencl::open_device(gpu.name));
    } catch (const Error& error) {
      gpu.failure = error.what();
    }
    gpu.seconds = stopwatch.seconds();
    all.push_back(std::move(gpu));
  }
  return all;
}

}  // namespace gdr::cli
