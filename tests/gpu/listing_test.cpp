// One list of devices of several interfaces.
#include "emulator/host/gpu/listing.hpp"

#include <algorithm>

#include "emulator/host/gpu/cuda/compiler.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

gpu::DeviceInfo device(const char* backend, const char* name, const char* place, bool is_gpu) {
  gpu::DeviceInfo info;
  info.backend = backend;
  info.name = name;
  info.pci_address = place;
  info.is_gpu = is_gpu;
  return info;
}

using Interfaces = std::vector<std::vector<gpu::DeviceInfo>>;
using List = std::vector<gpu::Listed>;

}  // namespace

TEST_CASE("a card that OpenCL and CUDA offer is listed once, as OpenCL's") {
  const Interfaces both{
      {device("OpenCL", "H200", "0000:17:00", true)},
      {device("CUDA", "H200", "0000:17:00", true), device("CUDA", "H200", "0000:65:00", true)}};
  CHECK(gpu::merged(both) == List{{0, 0}, {1, 1}});
}

TEST_CASE("two equal cards of one interface are two devices") {
  const Interfaces both{{device("OpenCL", "H200", "", true), device("OpenCL", "H200", "", true)},
                        {device("CUDA", "H200", "0000:17:00", true)}};
  CHECK(gpu::merged(both) == List{{0, 0}, {0, 1}});
  CHECK(gpu::merged({{}, {both[0][0], both[0][1]}}) == List{{1, 0}, {1, 1}});
}

TEST_CASE("cards are listed before processors") {
  const Interfaces both{
      {device("OpenCL", "pocl", "", false), device("OpenCL", "Arc", "0000:03:00", true)},
      {device("CUDA", "RTX", "0000:17:00", true)}};
  CHECK(gpu::merged(both) == List{{0, 1}, {1, 0}, {0, 0}});
  CHECK(gpu::merged({{}, {}}).empty());
  // A processor is no card, whatever its name.
  CHECK(gpu::merged({{device("OpenCL", "RTX", "", false)}, both[1]}) == List{{1, 0}, {0, 0}});
}

TEST_CASE("the NVRTC of the driver's version is tried first, then older ones") {
  using Names = std::vector<std::string>;
  CHECK(gpu::cuda::library_names(12040) ==
        Names{"libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.13", "libnvrtc.so.14"});
  CHECK(gpu::cuda::library_names(11080) ==
        Names{"libnvrtc.so.11.2", "libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so.14"});
  CHECK(gpu::cuda::library_names(15000).front() == "libnvrtc.so.15");
}

}  // namespace gdr::test
