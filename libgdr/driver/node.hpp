// Boards on this host's bus, as Linux shows them: found by PCI id, reached through files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libgdr/driver/access.hpp"

namespace gdr::driver {

/// The Linux driver that a board is bound to.
enum class NodeWay : std::uint8_t {
  Uio,   ///< uio_pci_generic, with memory of u-dma-buf
  Vfio,  ///< vfio-pci: the IOMMU lets the board reach what it was lent, and nothing else
};

/// The files of a board.
struct Node {
  NodeWay way = NodeWay::Uio;
  std::string address;  ///< on the PCI bus

  // Uio
  std::string registers;  ///< resource0: the first BAR, to be mapped
  std::string config;     ///< the configuration space: enables interrupts after each
  std::string interrupt;  ///< uioN: four bytes can be read after an interrupt
  std::string memory;     ///< a buffer for DMA, to be mapped (u-dma-buf)
  std::uint64_t memory_bus = 0, memory_bytes = 0;

  // Vfio
  std::string group;      ///< /dev/vfio/N, of its IOMMU group
  std::string container;  ///< /dev/vfio/vfio
};

/// What is on the bus.
struct Bus {
  std::vector<Node> nodes;            ///< boards, in the order of their addresses
  std::vector<std::string> left_out;  ///< "address: why" for devices of the id that are none

  /// For the end of a message: "; address: why", as often as there is one.
  std::string why_others_are_left_out() const;
};

/// Boards by PCI id (1172:6d72, or GDR_PCI_ID=VENDOR:DEVICE); below /sys and /dev, or GDR_SYSFS and
/// GDR_DEV. Throws Error (Usage) for an id that is none.
Bus find_nodes();

/// Opens one for this process alone. Throws Error (Device) if another one has it, or something is
/// missing.
std::unique_ptr<BoardAccess> open_node(const Node& node, double queue_seconds = 0);

std::unique_ptr<BoardAccess> open_uio(const Node& node, double queue_seconds);
std::unique_ptr<BoardAccess> open_vfio(const Node& node, double queue_seconds);

}  // namespace gdr::driver
