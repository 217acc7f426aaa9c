// A board that is bound to uio_pci_generic: BAR 0 is mapped through sysfs, an interrupt is a read
// of /dev/uioN, and the Interrupt Disable bit of the PCI command register is cleared after each
// (Linux, Documentation/driver-api/uio-howto.rst). Memory for DMA is a buffer of u-dma-buf.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "libgdr/driver/device_node.hpp"
#include "libgdr/driver/file.hpp"

namespace gdr::driver {
namespace {

constexpr std::uint64_t page = 4096, min_buffer = 256 << 10;

class UioBoard final : public BoardAccess {
 public:
  UioBoard(const Node& node, double queue_timeout) : name_("board at " + node.address) {
    interrupt_ = open_file(node.interrupt);
    lock(queue_timeout);
    config_ = open_file(node.config);
    enable_transfers();
    const File registers = open_file(node.registers), memory = open_file(node.memory);
    bar_ = Mapping(registers, bar_bytes, name_ + ": BAR 0");
    if (node.memory_bytes < min_buffer)
      throw Error(ErrorCategory::Device, name_ + ": its DMA buffer of " +
                                             std::to_string(node.memory_bytes) +
                                             " bytes is too small; create one of some megabytes");
    memory_ = Mapping(memory, node.memory_bytes, name_ + ": its DMA buffer");
    bus_ = node.memory_bus;
    enable_interrupts();
  }

  std::byte* bar() noexcept override { return bar_.data(); }
  const std::string& name() const noexcept override { return name_; }
  std::uint64_t largest_area() const noexcept override { return memory_.size() - control_bytes_; }
  /// Hardware polls its doorbells.
  void signal_doorbell() noexcept override {}

  /// The buffer has two areas: the first allocation (control memory), and the rest (transfer
  /// memory).
  DmaArea allocate(std::uint64_t bytes) override {
    const bool first = control_bytes_ == 0;
    if ((!first && data_allocated_) || bytes > largest_area())
      throw Error(ErrorCategory::Device, name_ + ": its DMA buffer has less than " +
                                             std::to_string(bytes) +
                                             " bytes left; create a larger one");
    if (first) {
      control_bytes_ = (bytes + page - 1) / page * page;
      return {memory_.data(), bus_, control_bytes_};
    }
    data_allocated_ = true;
    return {memory_.data() + control_bytes_, bus_ + control_bytes_, largest_area()};
  }
  void release(const DmaArea& area) noexcept override {
    if (area.bus == bus_)
      control_bytes_ = 0;
    else
      data_allocated_ = false;
  }

  WaitResult wait(std::chrono::nanoseconds time) override {
    if (read(Register::Identity) == ~std::uint64_t{0})
      return WaitResult::Disconnected;  // the device is gone
    pollfd p{interrupt_.get(), POLLIN, 0};
    const timespec limit{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
    if (ppoll(&p, 1, &limit, nullptr) <= 0) return WaitResult::Timeout;
    std::uint32_t count = 0;
    if (::read(interrupt_.get(), &count, sizeof(count)) != sizeof(count)) {
      std::this_thread::sleep_for(
          std::min<std::chrono::nanoseconds>(time, std::chrono::milliseconds(1)));
      return WaitResult::Timeout;  // interrupts are not delivered: the caller polls
    }
    enable_interrupts();
    return WaitResult::Interrupt;
  }

 private:
  File open_file(const std::string& path) const {
    File file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (!file)
      throw Error(ErrorCategory::Device,
                  name_ + ": " + path + " cannot be opened: " + system_error());
    return file;
  }

  /// Locks the node for one owner at a time.
  void lock(double queue_timeout) const {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(queue_timeout);
    while (flock(interrupt_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (std::chrono::steady_clock::now() >= end)
        throw Error(
            ErrorCategory::Device,
            name_ + " is in use by another process; wait for it with queue_timeout=SECONDS");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  /// Sets and clears bits of a byte of the configuration space.
  void change_config(off_t at, unsigned set, unsigned clear) const noexcept {
    unsigned char byte = 0;
    if (pread(config_.get(), &byte, 1, at) != 1) return;
    byte = static_cast<unsigned char>((byte | set) & ~clear);
    [[maybe_unused]] const ssize_t n = pwrite(config_.get(), &byte, 1, at);
  }
  /// Sets Memory Space and Bus Master, bits 1 and 2 of the command register: enables access to
  /// registers and DMA.
  void enable_transfers() const noexcept { change_config(4, 0x06, 0); }
  /// Clears Interrupt Disable, bit 10 of the command register.
  void enable_interrupts() const noexcept { change_config(5, 0, 0x04); }

  std::string name_;
  File interrupt_, config_;
  Mapping bar_, memory_;
  std::uint64_t bus_ = 0;
  std::uint64_t control_bytes_ = 0;  ///< size of the control memory; 0: not allocated
  bool data_allocated_ = false;
};

}  // namespace

std::unique_ptr<BoardAccess> open_uio(const Node& node, double queue_timeout) {
  return std::make_unique<UioBoard>(node, queue_timeout);
}

}  // namespace gdr::driver
