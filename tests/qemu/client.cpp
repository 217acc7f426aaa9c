// A driver of a board in one file, on VFIO without libgdr's driver. In a guest it tests what the
// kernel and the IOMMU do: interrupts, resets, and DMA outside of the mapped memory. It prints what
// it has checked; exit status 1 and a message if a check fails. usage: gdr_vfio_client ADDRESS
// interrupts|reset|outside
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "qemu/raw_host.hpp"

namespace {

using namespace qemu_test;

constexpr std::uint64_t bus = std::uint64_t{1} << 32;
constexpr std::uint64_t read_only_bus = bus + (std::uint64_t{1} << 30);
constexpr std::uint64_t page = 4096;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }
void require(bool good, const std::string& what) {
  if (!good) fail(what + " (errno: " + std::strerror(errno) + ")");
}

/// A board bound to vfio-pci.
class Board {
 public:
  explicit Board(const std::string& address) {
    const std::string device = "/sys/bus/pci/devices/" + address;
    const std::string group = std::filesystem::read_symlink(device + "/iommu_group").filename();
    container_ = open("/dev/vfio/vfio", O_RDWR);
    group_ = open(("/dev/vfio/" + group).c_str(), O_RDWR);
    require(container_ >= 0 && group_ >= 0, "VFIO's files cannot be opened");
    require(ioctl(group_, VFIO_GROUP_SET_CONTAINER, &container_) == 0, "no container");
    require(ioctl(container_, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) == 0, "no IOMMU");
    device_ = ioctl(group_, VFIO_GROUP_GET_DEVICE_FD, address.c_str());
    require(device_ >= 0, "the device cannot be opened");
    const auto bar = region(VFIO_PCI_BAR0_REGION_INDEX);
    void* const registers = mmap(nullptr, bar_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device_,
                                 static_cast<off_t>(bar.offset));
    require(registers != MAP_FAILED, "BAR 0 cannot be mapped");
    registers_ = static_cast<std::uint64_t*>(registers);
    enable_bus_master();
    void* const memory = mmap(nullptr, RawHost::memory_words * word_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(memory != MAP_FAILED, "no memory");
    memory_ = static_cast<std::uint64_t*>(memory);
    map(bus, memory_, RawHost::memory_words * word_bytes,
        VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE);
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board() {
    close(device_);
    close(group_);
    close(container_);
  }

  std::uint64_t read(Register r) { return word(r).load(); }
  void write(Register r, std::uint64_t value) {
    word(r).store(value, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  RawHost host() {
    return {{[this](Register r) { return read(r); },
             [this](Register r, std::uint64_t value) { write(r, value); }},
            memory_,
            bus};
  }
  std::uint64_t* memory() { return memory_; }

  void map(std::uint64_t at, void* memory, std::uint64_t bytes, std::uint32_t flags) {
    vfio_iommu_type1_dma_map request{};
    request.argsz = sizeof(request);
    request.flags = flags;
    request.vaddr = reinterpret_cast<std::uintptr_t>(memory);
    request.iova = at;
    request.size = bytes;
    require(ioctl(container_, VFIO_IOMMU_MAP_DMA, &request) == 0, "memory cannot be mapped");
  }
  void unmap(std::uint64_t at, std::uint64_t bytes) {
    vfio_iommu_type1_dma_unmap request{};
    request.argsz = sizeof(request);
    request.iova = at;
    request.size = bytes;
    require(ioctl(container_, VFIO_IOMMU_UNMAP_DMA, &request) == 0, "memory cannot be unmapped");
  }

  /// Resets the function, as its bus does.
  void reset_function() {
    require(ioctl(device_, VFIO_DEVICE_RESET) == 0, "the device cannot be reset");
    enable_bus_master();
  }

  /// Connects the first available kind of interrupts to an event file, and returns its name.
  std::string enable_interrupts() {
    event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (const auto& [kind, name] :
         {std::pair{VFIO_PCI_MSIX_IRQ_INDEX, "msix"}, std::pair{VFIO_PCI_MSI_IRQ_INDEX, "msi"},
          std::pair{VFIO_PCI_INTX_IRQ_INDEX, "pin"}}) {
      vfio_irq_info info{};
      info.argsz = sizeof(info);
      info.index = static_cast<std::uint32_t>(kind);
      if (ioctl(device_, VFIO_DEVICE_GET_IRQ_INFO, &info) != 0 || info.count == 0) continue;
      index_ = info.index;
      set_interrupts(VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER);
      return name;
    }
    fail("the device has no interrupts");
  }
  /// Waits for an interrupt, and returns the number of interrupts since the last call; 0: none.
  std::uint64_t wait(int milliseconds) {
    pollfd p{event_, POLLIN, 0};
    std::uint64_t count = 0;
    if (poll(&p, 1, milliseconds) != 1) return 0;
    require(::read(event_, &count, sizeof(count)) == sizeof(count), "no event");
    return count;
  }
  /// A pin is masked after each interrupt.
  void unmask() {
    if (index_ == VFIO_PCI_INTX_IRQ_INDEX)
      set_interrupts(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK);
  }

 private:
  std::atomic_ref<std::uint64_t> word(Register r) {
    return std::atomic_ref(registers_[static_cast<std::size_t>(r) / word_bytes]);
  }
  vfio_region_info region(std::uint32_t index) const {
    vfio_region_info info{};
    info.argsz = sizeof(info);
    info.index = index;
    require(ioctl(device_, VFIO_DEVICE_GET_REGION_INFO, &info) == 0, "no region");
    return info;
  }
  void enable_bus_master() const {
    const auto at = static_cast<off_t>(region(VFIO_PCI_CONFIG_REGION_INDEX).offset) + 4;
    const std::uint16_t command = 0x06;  // Memory Space, Bus Master
    require(pwrite(device_, &command, sizeof(command), at) == sizeof(command),
            "no command register");
  }
  void set_interrupts(std::uint32_t flags) const {
    alignas(vfio_irq_set) std::byte bytes[sizeof(vfio_irq_set) + sizeof(int)] = {};
    auto* const request = new (bytes) vfio_irq_set{};
    const bool with_file = (flags & VFIO_IRQ_SET_DATA_EVENTFD) != 0;
    request->argsz = sizeof(vfio_irq_set) + (with_file ? sizeof(int) : 0);
    request->flags = flags;
    request->index = index_;
    request->count = 1;
    std::memcpy(bytes + sizeof(vfio_irq_set), &event_, sizeof(event_));
    require(ioctl(device_, VFIO_DEVICE_SET_IRQS, bytes) == 0, "interrupts cannot be changed");
  }

  int container_ = -1, group_ = -1, device_ = -1, event_ = -1;
  std::uint32_t index_ = 0;
  std::uint64_t *registers_ = nullptr, *memory_ = nullptr;
};

/// Waits for the completion of a list, or the failure of the queue: true for the completion.
bool wait_completed(Board& board, const RawHost& host) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!host.completed()) {
    if ((board.read(Register::Status) & status_failed) != 0) return false;
    if (std::chrono::steady_clock::now() > end) fail("a list did not complete");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

void check_list(Board& board, RawHost& host, std::uint64_t first_word, std::uint32_t flags = 0) {
  Descriptor d = host.prepare(first_word);
  d.flags = flags;
  host.submit(d);
  if (!wait_completed(board, host) || host.completion().status != CompletionStatus::Done ||
      !host.has_results(first_word))
    fail("a list failed");
}

/// One interrupt arrives for each list while the mask is set, and none otherwise.
void interrupts(Board& board) {
  const std::string kind = board.enable_interrupts();
  RawHost host = board.host();
  host.reset();
  constexpr unsigned lists = 200;
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < lists; ++n) {
    board.write(Register::InterruptMask, 1);
    host.submit(host.prepare(n));
    if (board.wait(10000) == 0) fail("interrupt " + std::to_string(n) + " was lost");
    if (!host.completed()) fail("an interrupt came before the completion");
    if (!host.has_results(n)) fail("wrong results");
    board.write(Register::InterruptMask, 0);
    board.unmask();
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  if (const auto count = board.wait(50); count > 0)
    fail(std::to_string(count) + " interrupts more than lists");
  if (board.read(Register::Interrupts) != lists) fail("register INTERRUPTS is wrong");
  check_list(board, host, 1);
  if (board.wait(50) > 0) fail("an interrupt although the mask is 0");
  std::printf("%s: %u interrupts, %.1f microseconds a list\n", kind.c_str(), lists,
              time.count() / lists * 1e6);
}

/// After a reset of the function the board is in its initial state, whatever it was doing.
void reset(Board& board) {
  RawHost host = board.host();
  host.reset();
  check_list(board, host, 1);
  for (unsigned n = 0; n < 20; ++n) {
    board.write(Register::InterruptMask, 1);
    const std::uint64_t head = board.read(Register::Head);
    host.submit(host.prepare(100 + n));
    board.reset_function();
    if (head == 0) fail("register HEAD is 0 after a list");
    for (const Register r : {Register::Head, Register::Lists, Register::Error, Register::RingBase,
                             Register::Doorbell, Register::InterruptMask, Register::Interrupts})
      if (board.read(r) != 0) fail("a register is not 0 after a reset");
    if (board.read(Register::Identity) != board_identity) fail("no identity after a reset");
    host.reset();
    check_list(board, host, n);
  }
  std::printf("20 resets\n");
}

/// The IOMMU stops DMA to memory that is not mapped, or mapped read-only; the board reports it.
void outside(Board& board) {
  RawHost host = board.host();
  host.reset();
  check_list(board, host, 1);
  std::uint64_t* const memory = board.memory();
  board.map(read_only_bus, memory + RawHost::results_at / word_bytes, page, VFIO_DMA_MAP_FLAG_READ);
  const auto expect = [&](const char* what, std::uint64_t Descriptor::*field, std::uint64_t value) {
    Descriptor d = host.prepare(7);
    d.*field = value;
    d.flags = descriptor_resume;
    host.submit(d);
    const bool completed = wait_completed(board, host);
    if (field == &Descriptor::completion) {
      if (completed || host.completed()) fail(std::string(what) + ": completed");
      host.reset();
    } else if (!completed || host.completion().status != CompletionStatus::BadAddress) {
      fail(std::string(what) + ": no error");
    } else if (host.has_results(7)) {
      fail(std::string(what) + ": results were written");
    }
    // The IOMMU reports a fault after the kernel has read the last one.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    check_list(board, host, 9, descriptor_resume);
  };
  const std::uint64_t end = bus + RawHost::memory_words * word_bytes;
  expect("commands outside", &Descriptor::commands, end);
  expect("payload at the end", &Descriptor::payload, end - 8);
  expect("results outside", &Descriptor::results, std::uint64_t{1} << 36);
  expect("results in read-only memory", &Descriptor::results, read_only_bus);
  expect("completion outside", &Descriptor::completion, end + page);
  board.unmap(read_only_bus, page);
  expect("results in unmapped memory", &Descriptor::results, read_only_bus);
  std::printf("6 errors\n");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) fail("usage: gdr_vfio_client ADDRESS interrupts|reset|outside");
  Board board(argv[1]);
  const std::string test = argv[2];
  if (test == "interrupts") {
    interrupts(board);
  } else if (test == "reset") {
    reset(board);
  } else if (test == "outside") {
    outside(board);
  } else {
    fail("no test " + test);
  }
  return 0;
} catch (const std::exception& e) {
  std::printf("failed: %s\n", e.what());
  return 1;
}
