// An emulated PCI bus with boards, for tests: its files in sysfs, VFIO, and boards in threads.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
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

/// A bus with boards bound to vfio-pci: sysfs in a temporary directory, which GDR_SYSFS and GDR_DEV
/// name during the lifetime of the object, and VFIO's system calls. The bus also has a device that
/// is not a board.
class FakeBus final : public gdr::driver::SystemCalls {
 public:
  class Board {
   public:
    Board(std::filesystem::path folder, std::string group,
          std::shared_ptr<const gdr::Engine> engine);

    // Set by tests.
    std::uint32_t interrupts = 2;  ///< supported kind: VFIO's index of MSI-X, MSI or the pin
    bool viable = true;            ///< its group is usable
    std::uint64_t bar_size = gdr::bar_bytes;            ///< reported size of BAR 0, in bytes
    std::uint64_t max_locked = std::uint64_t{1} << 30;  ///< maximum size of an area, in bytes
    // Read by tests.
    std::size_t areas() const { return thread_->areas(); }
    unsigned interrupt_count() const { return interrupts_; }
    unsigned unmask_count() const { return unmasked_; }
    std::uint16_t command() const;
    std::uint64_t& at(gdr::Register r) {
      return reinterpret_cast<std::uint64_t*>(bar_.data())[static_cast<std::size_t>(r) / 8];
    }

   private:
    friend class FakeBus;
    bool in_use() const;
    int open_group();
    int irqs(const void* argument);

    std::string address_, group_;
    gdr::driver::File file_;  ///< configuration space, then registers
    gdr::driver::Mapping config_, bar_;
    gdr::driver::File group_end_;  ///< write end of the group's pipe
    std::mutex mutex_;
    gdr::driver::File event_;
    std::atomic<unsigned> interrupts_ = 0, unmasked_ = 0;
    std::unique_ptr<BoardThread> thread_;
  };

  FakeBus();
  FakeBus(const FakeBus&) = delete;
  FakeBus& operator=(const FakeBus&) = delete;
  ~FakeBus() override;

  /// Adds a board with an IOMMU group of its own; null: the vector engine.
  Board& add_board(std::shared_ptr<const gdr::Engine> engine = nullptr);
  /// Adds a device with the PCI id of a board, bound to `driver` unless that is empty. Returns its
  /// sysfs directory.
  std::filesystem::path add_device(const std::string& driver = "");

  int open(const std::string& path) override;
  int control(int file, unsigned long request, void* argument) override;

 private:
  Board* board_of(int file);

  std::filesystem::path root_;
  std::mutex mutex_;  ///< for system calls of several threads
  std::vector<std::unique_ptr<Board>> boards_;
  std::map<int, Board*> containers_;  ///< by file descriptor
  unsigned devices_ = 0;
};

}  // namespace driver_test
