// An emulated PCI bus with boards, for tests: its files in sysfs and /dev, and boards in threads.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "emulator/board/hardware/hardware.hpp"
#include "libgdr/driver/device_node.hpp"
#include "libgdr/driver/file.hpp"

namespace driver_test {

/// A small geometry, for short self-tests.
inline gdr::Geometry bus_geometry() {
  gdr::Geometry g;
  g.chips_per_board = g.blocks = 2;
  return g;
}

/// An emulated board in a thread, on registers and memory of the caller.
class BoardThread {
 public:
  BoardThread(std::byte* bar, std::shared_ptr<const gdr::Engine> engine,
              std::function<void()> interrupt);
  BoardThread(const BoardThread&) = delete;
  BoardThread& operator=(const BoardThread&) = delete;
  ~BoardThread();

  /// Maps and unmaps memory for DMA, and counts the mapped areas.
  void map(const gdr::DmaArea& area);
  void unmap(std::uint64_t bus);
  std::size_t areas() const { return areas_; }

 private:
  std::mutex mutex_;  ///< protects space_ against changes during a step
  gdr::DmaSpace space_;
  std::atomic<std::size_t> areas_ = 0;
  gdr::BoardHardware board_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

/// The files of a bus in a temporary directory, named by GDR_SYSFS and GDR_DEV during the lifetime
/// of the object. The bus also has a device that is not a board.
class FakeBus {
 public:
  FakeBus();
  FakeBus(const FakeBus&) = delete;
  FakeBus& operator=(const FakeBus&) = delete;
  ~FakeBus();

  /// Adds a board bound to uio_pci_generic; null: the vector engine. Returns its sysfs directory.
  std::filesystem::path add_uio(std::shared_ptr<const gdr::Engine> engine = nullptr);
  /// Adds a device with the PCI id of a board, bound to `driver` unless that is empty.
  std::filesystem::path add_device(const std::string& driver = "");
  std::filesystem::path root() const { return root_; }

 private:
  struct UioBoard {
    gdr::driver::Mapping bar, memory;
    gdr::driver::File fifo;
    std::atomic<std::uint32_t> interrupts = 0;
    std::unique_ptr<BoardThread> thread;
  };
  std::filesystem::path root_;
  std::vector<std::unique_ptr<UioBoard>> boards_;
  unsigned devices_ = 0;
};

/// Emulation of the VFIO system calls for a board bound to vfio-pci.
class FakeVfio final : public gdr::driver::VfioKernel {
 public:
  /// Adds a board to `bus`.
  explicit FakeVfio(FakeBus& bus);
  ~FakeVfio() override;

  int open(const std::string& path) override;
  int control(int file, unsigned long request, void* argument) override;

  // Set by tests.
  std::uint32_t interrupts = 2;  ///< supported kind: VFIO's index of MSI-X, MSI or the pin
  bool viable = true;            ///< its group is usable
  std::uint64_t bar_size = gdr::bar_bytes;            ///< reported size of BAR 0, in bytes
  std::uint64_t max_locked = std::uint64_t{1} << 30;  ///< maximum size of an area, in bytes
  // Read by tests.
  std::size_t areas() const { return board_->areas(); }
  unsigned interrupt_count() const { return interrupts_; }
  unsigned unmask_count() const { return unmasked_; }
  std::uint16_t command() const;

 private:
  bool in_use() const;
  int irqs(const void* argument);

  std::string group_, container_, address_;
  gdr::driver::File file_;  ///< configuration space, then registers
  gdr::driver::Mapping config_, bar_;
  gdr::driver::File group_end_;  ///< write end of the group's pipe
  std::mutex mutex_;
  gdr::driver::File event_;
  std::atomic<unsigned> interrupts_ = 0, unmasked_ = 0;
  std::unique_ptr<BoardThread> board_;
};

}  // namespace driver_test
