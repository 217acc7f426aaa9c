#include "emulator/host/gpu/listing.hpp"

#include <algorithm>

namespace gdr::gpu {
namespace {

bool is_same_device(const DeviceInfo& a, const DeviceInfo& b) {
  if (!a.is_gpu || !b.is_gpu) return false;
  if (!a.pci_address.empty() && !b.pci_address.empty()) return a.pci_address == b.pci_address;
  return a.name == b.name;
}

}  // namespace

std::vector<Listed> merged(const std::vector<std::vector<DeviceInfo>>& interfaces) {
  std::vector<Listed> all;
  const auto info = [&](const Listed& l) -> const DeviceInfo& {
    return interfaces[l.interface][l.device];
  };
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    for (std::size_t n = 0; n < interfaces[i].size(); ++n) {
      const bool known = std::ranges::any_of(all, [&](const Listed& other) {
        return other.interface != i && is_same_device(info(other), interfaces[i][n]);
      });
      if (!known) all.push_back({i, n});
    }
  std::ranges::stable_partition(all, [&](const Listed& l) { return info(l).is_gpu; });
  return all;
}

}  // namespace gdr::gpu
