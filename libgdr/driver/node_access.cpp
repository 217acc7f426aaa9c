// Access to boards on this host's bus through the device nodes of vfio-pci.
#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <thread>

#include "libgdr/driver/device_node.hpp"

namespace gdr::driver {
namespace {

SystemCalls linux_calls;
SystemCalls* current_calls = &linux_calls;

constexpr std::uint64_t page = 4096;
/// Bits Memory Space and Bus Master of the PCI command register, at byte 4 of the configuration
/// space: access to registers, and DMA.
constexpr off_t command_register = 4;
constexpr unsigned enable_transfers = 0x06;

/// Sets bits of a byte of the configuration space. False on failure.
bool set_config(const File& file, off_t at, unsigned bits) noexcept {
  unsigned char byte = 0;
  if (pread(file.get(), &byte, 1, at) != 1) return false;
  byte = static_cast<unsigned char>(byte | bits);
  return pwrite(file.get(), &byte, 1, at) == 1;
}

/// A board that is bound to vfio-pci (Linux, Documentation/driver-api/vfio.rst): BAR 0 is mapped
/// from the device's file, interrupts arrive through an event file, and any memory of this process
/// can be mapped for DMA in the IOMMU. A group has one owner at a time.
class VfioBoard final : public BoardAccess {
 public:
  VfioBoard(const Node& node, double queue_timeout)
      : name_("board at " + node.address), calls_(*current_calls) {
    container_ = File(calls_.open(node.container));
    if (!container_) fail(node.container + " cannot be opened");
    if (control(container_, VFIO_GET_API_VERSION, nullptr) != VFIO_API_VERSION)
      fail("the host's VFIO does not have API version " + std::to_string(VFIO_API_VERSION) +
               "; use another Linux kernel",
           false);
    open_exclusively(queue_timeout, [&] {
      group_ = File(calls_.open(node.group));
      if (!group_ && errno != EBUSY) fail(node.group + " cannot be opened");
      return static_cast<bool>(group_);
    });
    vfio_group_status status{sizeof(status), 0};
    require(control(group_, VFIO_GROUP_GET_STATUS, &status),
            "the status of its IOMMU group cannot be read");
    if ((status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0)
      fail(
          "other devices of its IOMMU group are bound to other drivers; bind them to vfio-pci, too",
          false);
    int file = container_.get();
    require(control(group_, VFIO_GROUP_SET_CONTAINER, &file), "its IOMMU group cannot be used");
    require(control(container_, VFIO_SET_IOMMU, number(VFIO_TYPE1v2_IOMMU)),
            "the host's IOMMU cannot be used");
    std::string address = node.address;
    device_ = File(control(group_, VFIO_GROUP_GET_DEVICE_FD, address.data()));
    if (!device_) fail("the device cannot be opened");
    map_registers();
    const auto config = static_cast<off_t>(region(VFIO_PCI_CONFIG_REGION_INDEX).offset);
    if (!set_config(device_, config + command_register, enable_transfers))
      fail("its configuration space cannot be written");
    enable_interrupts();
  }
  ~VfioBoard() override {
    while (!areas_.empty()) release({nullptr, areas_.begin()->first, 0});
  }

  std::byte* bar() noexcept override { return bar_.data(); }
  const std::string& name() const noexcept override { return name_; }
  /// Hardware polls its doorbells.
  void signal_doorbell() noexcept override {}

  WaitResult wait(std::chrono::nanoseconds limit) override {
    if (read(Register::Identity) == ~std::uint64_t{0})
      return WaitResult::Disconnected;  // the device is gone
    pollfd p{interrupt_.get(), POLLIN, 0};
    if (!poll_files({&p, 1}, limit)) return WaitResult::Timeout;
    acknowledge_interrupt();
    return WaitResult::Interrupt;
  }

  std::uint64_t largest_area() const noexcept override { return std::uint64_t{1} << 30; }

  DmaArea allocate(std::uint64_t bytes) override {
    const std::uint64_t size = (bytes + page - 1) / page * page;
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("transfer memory cannot be allocated");
    // Exclude forked children: after a copy on write the board would write to a stale page.
    madvise(memory, size, MADV_DONTFORK);
    vfio_iommu_type1_dma_map map{};
    map.argsz = sizeof(map);
    map.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
    map.vaddr = reinterpret_cast<std::uintptr_t>(memory);
    map.iova = next_bus_;
    map.size = size;
    if (control(container_, VFIO_IOMMU_MAP_DMA, &map) != 0) {
      const int code = errno;
      munmap(memory, size);
      errno = code;
      fail(std::to_string(size) +
           " bytes cannot be mapped for DMA (raise \"ulimit -l\", the limit of locked memory)");
    }
    next_bus_ += size;
    areas_[map.iova] = {static_cast<std::byte*>(memory), map.iova, size};
    return areas_[map.iova];
  }

  void release(const DmaArea& area) noexcept override {
    const auto found = areas_.find(area.bus);
    if (found == areas_.end()) return;
    vfio_iommu_type1_dma_unmap map{};
    map.argsz = sizeof(map);
    map.iova = found->second.bus;
    map.size = found->second.bytes;
    // Keep memory that is still mapped in the IOMMU: the board may write to it.
    if (control(container_, VFIO_IOMMU_UNMAP_DMA, &map) == 0)
      munmap(found->second.memory, found->second.bytes);
    areas_.erase(found);
  }

 private:
  [[noreturn]] void fail(const std::string& what, bool with_system_error = true) const {
    throw device_error(name_ + ": " + what + (with_system_error ? ": " + system_error() : ""));
  }

  /// Calls `open` until it returns true, or throws when the time in the queue for the board ends.
  template <typename Open>
  void open_exclusively(double queue_timeout, const Open& open) const {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(queue_timeout);
    while (!open()) {
      if (std::chrono::steady_clock::now() >= end)
        throw device_error(name_ +
                           " is in use by another process; wait for it with queue_timeout=SECONDS");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  static void* number(std::uintptr_t n) noexcept { return reinterpret_cast<void*>(n); }
  int control(const File& file, unsigned long request, void* argument) const {
    return calls_.control(file.get(), request, argument);
  }
  void require(int code, const char* what) const {
    if (code != 0) fail(what);
  }

  vfio_region_info region(std::uint32_t index) const {
    vfio_region_info info{};
    info.argsz = sizeof(info);
    info.index = index;
    require(control(device_, VFIO_DEVICE_GET_REGION_INFO, &info), "its regions cannot be queried");
    return info;
  }

  void map_registers() {
    const vfio_region_info info = region(VFIO_PCI_BAR0_REGION_INDEX);
    if (info.size < bar_bytes || (info.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0)
      fail("its first BAR has " + std::to_string(info.size) + " bytes" +
               (info.size < bar_bytes ? " instead of " + std::to_string(bar_bytes)
                                      : " and cannot be mapped"),
           false);
    bar_ = Mapping(device_, bar_bytes, name_ + ": BAR 0", info.offset);
  }

  bool has_interrupts(std::uint32_t kind) const {
    vfio_irq_info info{};
    info.argsz = sizeof(info);
    info.index = kind;
    return control(device_, VFIO_DEVICE_GET_IRQ_INFO, &info) == 0 && info.count > 0;
  }

  /// Uses message-signalled interrupts if supported, else the pin, which is masked after each.
  void enable_interrupts() {
    interrupt_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!interrupt_) fail("an event file cannot be created");
    interrupt_kind_ = VFIO_PCI_INTX_IRQ_INDEX;
    for (const std::uint32_t kind : {VFIO_PCI_MSI_IRQ_INDEX, VFIO_PCI_MSIX_IRQ_INDEX})
      if (has_interrupts(kind)) interrupt_kind_ = kind;
    if (set_interrupts(VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, interrupt_.get()) !=
        0)
      fail("its interrupts cannot be enabled");
  }

  /// Consumes an interrupt and enables the next.
  void acknowledge_interrupt() noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(interrupt_.get(), &count, sizeof(count));
    if (interrupt_kind_ == VFIO_PCI_INTX_IRQ_INDEX)
      set_interrupts(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK, -1);
  }

  int set_interrupts(std::uint32_t flags, std::int32_t file) const {
    // The number of the event file follows the request.
    alignas(vfio_irq_set) std::byte bytes[sizeof(vfio_irq_set) + sizeof(std::int32_t)] = {};
    const bool with_file = (flags & VFIO_IRQ_SET_DATA_EVENTFD) != 0;
    auto* const request = new (bytes) vfio_irq_set{};
    request->argsz = static_cast<std::uint32_t>(with_file ? sizeof(bytes) : sizeof(vfio_irq_set));
    request->flags = flags;
    request->index = interrupt_kind_;
    request->count = 1;
    std::memcpy(bytes + sizeof(vfio_irq_set), &file, sizeof(std::int32_t));
    return control(device_, VFIO_DEVICE_SET_IRQS, bytes);
  }

  const std::string name_;
  SystemCalls& calls_;
  File container_, group_, device_, interrupt_;
  Mapping bar_;
  std::uint32_t interrupt_kind_ = VFIO_PCI_INTX_IRQ_INDEX;  ///< index of VFIO's interrupts
  /// Bus address of the next area, above the addresses of a host's devices below 4 GB.
  std::uint64_t next_bus_ = std::uint64_t{1} << 32;
  std::map<std::uint64_t, DmaArea> areas_;
};

}  // namespace

int SystemCalls::open(const std::string& path) { return ::open(path.c_str(), O_RDWR | O_CLOEXEC); }

int SystemCalls::control(int file, unsigned long request, void* argument) {
  return ioctl(file, request, argument);
}

void use_system_calls(SystemCalls* calls) noexcept {
  current_calls = calls != nullptr ? calls : &linux_calls;
}

std::unique_ptr<BoardAccess> open_node(const Node& node, double queue_timeout) {
  return std::make_unique<VfioBoard>(node, queue_timeout);
}

}  // namespace gdr::driver
