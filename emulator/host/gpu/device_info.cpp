#include <array>
#include <cstdio>

#include "emulator/host/gpu/device.hpp"

namespace gdr::gpu {

std::string description(const DeviceInfo& d) {
  return d.name + ", " + d.backend + (d.platform.empty() ? "" : " (" + d.platform + ")") +
         ", driver " + d.driver + ", " + std::to_string(d.units) + " compute units, " +
         std::to_string(d.memory_bytes >> 30) + " GiB" + (d.has_doubles ? "" : ", no doubles") +
         (d.is_gpu ? "" : " (no GPU, but a processor)");
}

std::string pci_address(std::uint32_t domain, std::uint32_t bus, std::uint32_t device) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x", domain, bus, device);
  return text.data();
}

std::string label(const DeviceInfo& d) { return "the " + d.backend + " device " + d.name; }

}  // namespace gdr::gpu
