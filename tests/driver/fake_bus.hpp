// A PCI bus with boards on it, for tests: what Linux shows of it in files, and the boards in
// threads.
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
#include "libgdr/driver/file.hpp"
#include "libgdr/driver/vfio.hpp"

namespace driver_test {

/// A machine that is soon tested.
inline gdr::Geometry bus_geometry() {
  gdr::Geometry g;
  g.chips_per_board = g.blocks = 2;
  return g;
}

/// The chips of a board, in a thread, behind registers and memory that somebody else provides.
class BoardThread {
 public:
  BoardThread(std::byte* bar, std::shared_ptr<const gdr::Engine> engine,
              std::function<void()> interrupt);
  BoardThread(const BoardThread&) = delete;
  BoardThread& operator=(const BoardThread&) = delete;
  ~BoardThread();

  /// The memory that it reaches, and so many areas of it there are.
  void lend(const gdr::DmaArea& area);
  void take_back(std::uint64_t bus);
  std::size_t areas() const { return areas_; }

 private:
  std::mutex mutex_;  ///< between two steps only does what it reaches change
  gdr::DmaSpace space_;
  std::atomic<std::size_t> areas_ = 0;
  gdr::BoardHardware board_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

/// The files of a bus below a folder of their own; GDR_SYSFS and GDR_DEV name them as long as it
/// lives. Beside the boards there is a device of another kind.
class FakeBus {
 public:
  FakeBus();
  FakeBus(const FakeBus&) = delete;
  FakeBus& operator=(const FakeBus&) = delete;
  ~FakeBus();

  /// A board bound to uio_pci_generic; null: the vector engine. Returns its folder in sysfs.
  std::filesystem::path add_uio(std::shared_ptr<const gdr::Engine> engine = nullptr);
  /// A device of the id alone, bound to `driver` where there is one.
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

/// What Linux is for the owner of a board that is bound to vfio-pci.
class FakeVfio final : public gdr::driver::VfioKernel {
 public:
  /// A board on `bus`.
  explicit FakeVfio(FakeBus& bus);
  ~FakeVfio() override;

  int open(const std::string& path) override;
  int control(int file, unsigned long request, void* argument) override;

  // What tests set
  bool messages = true;                                ///< it has message interrupts, not the pin
  bool viable = true;                                  ///< nobody else uses its group
  std::uint64_t bar_size = gdr::bar_bytes;             ///< as it is told
  std::uint64_t most_locked = std::uint64_t{1} << 30;  ///< of an area
  // What they look at
  std::size_t areas() const { return board_->areas(); }
  unsigned interrupts() const { return interrupts_; }
  unsigned unmasked() const { return unmasked_; }
  std::uint16_t command() const;

 private:
  bool taken() const;
  int irqs(const void* argument);

  std::string group_, container_, address_;
  gdr::driver::File file_;  ///< configuration space, then registers
  gdr::driver::Mapping config_, bar_;
  gdr::driver::File group_watch_;  ///< the other end of the group's file
  std::mutex mutex_;
  gdr::driver::File event_;
  std::atomic<unsigned> interrupts_ = 0, unmasked_ = 0;
  std::unique_ptr<BoardThread> board_;
};

}  // namespace driver_test
