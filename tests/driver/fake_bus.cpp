#include "driver/fake_bus.hpp"

#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "support/sanitizers.hpp"

namespace driver_test {
namespace {

namespace fs = std::filesystem;
using gdr::driver::File;
using gdr::driver::Mapping;

#if GDR_THREAD_SANITIZER
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

/// Hides the memory accesses of a board from the thread sanitizer, which cannot relate them to the
/// doorbell: driver and board have the registers at two addresses, but share the memory of a VFIO
/// board.
struct UntrackedAccesses {
#if GDR_THREAD_SANITIZER
  UntrackedAccesses() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~UntrackedAccesses() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
#else
  UntrackedAccesses() {}
  ~UntrackedAccesses() {}
#endif
  UntrackedAccesses(const UntrackedAccesses&) = delete;
  UntrackedAccesses& operator=(const UntrackedAccesses&) = delete;
};

/// Offset of the registers in the file of a VFIO device.
constexpr std::uint64_t bar_at = 0x10000;

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// Identity of an open file, which duplicates share.
ino_t inode(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

BoardThread::BoardThread(std::byte* bar, std::shared_ptr<const gdr::Engine> engine,
                         std::function<void()> interrupt)
    : board_({bus_geometry(), engine ? std::move(engine) : gdr::make_engine("vector"), 1}, bar,
             space_, {std::move(interrupt), {}}),
      thread_([this] {
        while (!ended_) {
          bool worked = false;
          {
            const std::scoped_lock lock(mutex_);
            const UntrackedAccesses scope;
            worked = board_.step();
          }
          if (!worked) std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
      }) {}

BoardThread::~BoardThread() {
  ended_ = true;
  thread_.join();
}

void BoardThread::map(const gdr::DmaArea& area) {
  const std::scoped_lock lock(mutex_);
  space_.add(area);
  ++areas_;
}

void BoardThread::unmap(std::uint64_t bus) {
  const std::scoped_lock lock(mutex_);
  if (space_.remove(bus).memory != nullptr) --areas_;
}

FakeBus::Board::Board(fs::path folder, std::string group, std::shared_ptr<const gdr::Engine> engine)
    : address_(folder.filename()), group_(std::move(group)) {
  file_ = File(memfd_create("device", MFD_CLOEXEC));
  if (ftruncate(file_.get(), bar_at + gdr::bar_bytes) != 0)
    throw std::runtime_error("cannot resize the device file");
  config_ = Mapping(file_, 4096, "configuration space");
  bar_ = Mapping(file_, gdr::bar_bytes, "registers", bar_at);
  thread_ = std::make_unique<BoardThread>(bar_.data(), std::move(engine), [this] {
    ++interrupts_;
    const std::uint64_t one = 1;
    const std::scoped_lock lock(mutex_);
    [[maybe_unused]] const ssize_t n = write(event_.get(), &one, sizeof(one));
  });
}

std::uint16_t FakeBus::Board::command() const {
  std::uint16_t value = 0;
  std::memcpy(&value, config_.data() + 4, sizeof(value));
  return value;
}

/// Whether the group's file is open.
bool FakeBus::Board::in_use() const {
  if (!group_end_) return false;
  pollfd p{group_end_.get(), 0, 0};
  poll(&p, 1, 0);
  return (p.revents & POLLERR) == 0;
}

/// The file of the group: the read end of a pipe, which shows whether it is still open.
int FakeBus::Board::open_group() {
  if (in_use()) {
    errno = EBUSY;
    return -1;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  group_end_ = File(ends[1]);
  return ends[0];
}

int FakeBus::Board::irqs(const void* argument) {
  const auto& set = *static_cast<const vfio_irq_set*>(argument);
  if (set.index != interrupts) {
    errno = EINVAL;
    return -1;
  }
  if ((set.flags & VFIO_IRQ_SET_ACTION_UNMASK) != 0) {
    ++unmasked_;
    return 0;
  }
  std::int32_t file = -1;
  std::memcpy(&file, set.data, sizeof(file));
  const std::scoped_lock lock(mutex_);
  event_ = File(dup(file));
  return 0;
}

FakeBus::FakeBus() {
  char folder[] = "/tmp/gdr-bus-XXXXXX";
  if (mkdtemp(folder) == nullptr)
    throw std::runtime_error("cannot create the directory of the bus");
  root_ = folder;
  write_file(root_ / "sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n");
  write_file(root_ / "sys/bus/pci/devices/0000:01:00.0/device", "0x1234\n");
  setenv("GDR_SYSFS", (root_ / "sys").c_str(), 1);
  setenv("GDR_DEV", (root_ / "dev").c_str(), 1);
  gdr::driver::use_system_calls(this);
}

FakeBus::~FakeBus() {
  gdr::driver::use_system_calls(nullptr);
  unsetenv("GDR_SYSFS");
  unsetenv("GDR_DEV");
  boards_.clear();
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

fs::path FakeBus::add_device(const std::string& driver) {
  const fs::path device =
      root_ / ("sys/bus/pci/devices/0000:0" + std::to_string(3 + devices_++) + ":00.0");
  write_file(device / "vendor", "0x1172\n");
  write_file(device / "device", "0x6d72\n");
  if (!driver.empty()) fs::create_symlink("/sys/bus/pci/drivers/" + driver, device / "driver");
  return device;
}

FakeBus::Board& FakeBus::add_board(std::shared_ptr<const gdr::Engine> engine) {
  const fs::path device = add_device("vfio-pci");
  const std::string group = std::to_string(26 + boards_.size());
  fs::create_symlink("/sys/kernel/iommu_groups/" + group, device / "iommu_group");
  return *boards_.emplace_back(
      std::make_unique<Board>(device, root_ / "dev/vfio" / group, std::move(engine)));
}

int FakeBus::open(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  if (!boards_.empty() && path == root_ / "dev/vfio/vfio")
    return ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const auto& board : boards_)
    if (path == board->group_) return board->open_group();
  errno = ENOENT;
  return -1;
}

/// The board of a file: its group's, its device's, or its container.
FakeBus::Board* FakeBus::board_of(int file) {
  for (const auto& board : boards_)
    if (inode(file) == inode(board->file_.get()) ||
        (board->group_end_ && inode(file) == inode(board->group_end_.get())))
      return board.get();
  const auto found = containers_.find(file);
  return found == containers_.end() ? nullptr : found->second;
}

int FakeBus::control(int file, unsigned long request, void* argument) {
  if (request == VFIO_GET_API_VERSION) return VFIO_API_VERSION;
  const std::scoped_lock lock(mutex_);
  Board* const board = board_of(file);
  if (board == nullptr) {
    errno = EBADF;
    return -1;
  }
  switch (request) {
    case VFIO_GROUP_GET_STATUS:
      static_cast<vfio_group_status*>(argument)->flags =
          board->viable ? VFIO_GROUP_FLAGS_VIABLE : 0;
      return 0;
    case VFIO_GROUP_SET_CONTAINER:
      containers_[*static_cast<const int*>(argument)] = board;
      return 0;
    case VFIO_SET_IOMMU:
      return 0;
    case VFIO_GROUP_GET_DEVICE_FD:
      return board->address_ == static_cast<const char*>(argument) ? dup(board->file_.get()) : -1;
    case VFIO_DEVICE_GET_REGION_INFO: {
      auto& info = *static_cast<vfio_region_info*>(argument);
      const bool bar = info.index == VFIO_PCI_BAR0_REGION_INDEX;
      info.flags = bar ? VFIO_REGION_INFO_FLAG_MMAP : 0;
      info.size = bar ? board->bar_size : 256;
      info.offset = bar ? bar_at : 0;
      return 0;
    }
    case VFIO_DEVICE_GET_IRQ_INFO: {
      auto& info = *static_cast<vfio_irq_info*>(argument);
      info.count = info.index == board->interrupts ? 1 : 0;
      return 0;
    }
    case VFIO_DEVICE_SET_IRQS:
      return board->irqs(argument);
    case VFIO_IOMMU_MAP_DMA: {
      const auto& map = *static_cast<const vfio_iommu_type1_dma_map*>(argument);
      if (map.size > board->max_locked) {
        errno = ENOMEM;
        return -1;
      }
      board->thread_->map({reinterpret_cast<std::byte*>(map.vaddr), map.iova, map.size});
      return 0;
    }
    case VFIO_IOMMU_UNMAP_DMA:
      board->thread_->unmap(static_cast<const vfio_iommu_type1_dma_unmap*>(argument)->iova);
      return 0;
    default:
      errno = ENOTTY;
      return -1;
  }
}

}  // namespace driver_test
