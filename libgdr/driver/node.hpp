// Boards on this host's bus, as Linux shows them: found by PCI id, reached through files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libgdr/driver/access.hpp"

namespace gdr::driver {

/// The files of a board.
struct Node {
  std::string address;    ///< on the PCI bus, for messages
  std::string registers;  ///< resource0: the first BAR, to be mapped
  std::string config;     ///< the configuration space: enables interrupts after each
  std::string interrupt;  ///< uioN: four bytes can be read after an interrupt
  std::string memory;     ///< a buffer for DMA, to be mapped (u-dma-buf)
  std::uint64_t memory_bus = 0, memory_bytes = 0;
};

/// Boards by PCI id (1172:6d72, or GDR_PCI_ID=VENDOR:DEVICE) in the order of their addresses; below
/// /sys and /dev, or GDR_SYSFS and GDR_DEV. Boards that have no driver yet are left out.
std::vector<Node> find_nodes();

/// Opens one for this process alone. Throws Error (Device) if another one has it, or something is
/// missing.
std::unique_ptr<BoardAccess> open_node(const Node& node, double queue_seconds = 0);

}  // namespace gdr::driver
