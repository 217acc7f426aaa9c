// Boards on this host's PCI bus: found by PCI id in sysfs, accessed through device nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libgdr/driver/access.hpp"

namespace gdr::driver {

/// The files of a board that is bound to vfio-pci: the IOMMU restricts it to the mapped memory.
struct Node {
  std::string address;    ///< PCI address
  std::string group;      ///< path of /dev/vfio/N, the IOMMU group
  std::string container;  ///< path of /dev/vfio/vfio
};

/// Devices of the PCI id on the bus.
struct Bus {
  std::vector<Node> nodes;            ///< usable boards, in the order of their addresses
  std::vector<std::string> unusable;  ///< "address: reason" for each unusable device

  /// Suffix of a message: "; address: reason" for each unusable device.
  std::string unusable_text() const;
};

/// Boards by PCI id (1172:6d72, or GDR_PCI_ID=VENDOR:DEVICE); below /sys and /dev, or GDR_SYSFS and
/// GDR_DEV. Throws Error (Usage) for an invalid id.
Bus find_device_nodes();

/// Opens a board for exclusive use. Throws Error (Device) if another process uses it, or a file is
/// missing.
std::unique_ptr<BoardAccess> open_node(const Node& node, double queue_timeout = 0);

/// System calls for VFIO, which tests replace.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  /// open(2) for reading and writing: a file descriptor, or -1 and errno.
  virtual int open(const std::string& path);
  /// ioctl(2). `argument` is a pointer or a number, depending on the request.
  virtual int control(int file, unsigned long request, void* argument);
};

/// Replaces those for boards opened afterwards, for tests; null: those of Linux.
void use_system_calls(SystemCalls* calls) noexcept;

}  // namespace gdr::driver
