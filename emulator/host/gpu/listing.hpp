// One list of the devices of several interfaces.
#pragma once

#include <cstddef>
#include <vector>

#include "emulator/host/gpu/device.hpp"

namespace gdr::gpu {

/// A device of an interface.
struct Listed {
  std::size_t interface = 0;  ///< number of the interface
  std::size_t device = 0;     ///< number in its list
  bool operator==(const Listed&) const = default;
};

/// Every device once, GPUs first, otherwise in the given order. A GPU that several interfaces offer
/// is that of the first one. It is the same if the address on the PCI bus is the same, or, where a
/// driver does not tell the address, the name.
std::vector<Listed> merged(const std::vector<std::vector<DeviceInfo>>& interfaces);

}  // namespace gdr::gpu
