// Boards on this host's PCI bus: found by PCI id in sysfs, accessed through device nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libgdr/driver/access.hpp"

namespace gdr::driver {

/// The Linux driver that a board is bound to.
enum class NodeDriver : std::uint8_t {
  Uio,   ///< uio_pci_generic, with a u-dma-buf buffer
  Vfio,  ///< vfio-pci: the IOMMU restricts the board to the mapped memory
};

/// The files of a board.
struct Node {
  NodeDriver driver = NodeDriver::Uio;
  std::string address;  ///< PCI address

  // Uio
  std::string registers;  ///< path of resource0, the first BAR
  std::string config;     ///< path of the configuration space
  std::string interrupt;  ///< path of uioN: four bytes are readable after an interrupt
  std::string memory;     ///< path of the DMA buffer (u-dma-buf)
  std::uint64_t memory_bus = 0, memory_bytes = 0;

  // Vfio
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
class VfioKernel {
 public:
  virtual ~VfioKernel() = default;
  /// open(2) for reading and writing: a file descriptor, or -1 and errno.
  virtual int open(const std::string& path);
  /// ioctl(2). `argument` is a pointer or a number, depending on the request.
  virtual int control(int file, unsigned long request, void* argument);
};

/// Replaces the system calls for boards opened afterwards, for tests; null: those of Linux.
void use_vfio_kernel(VfioKernel* kernel) noexcept;

}  // namespace gdr::driver
