// Device nodes. The PCI device is bound to uio_pci_generic: BAR 0 is mapped through sysfs, an
// interrupt is a read of /dev/uioN, and the Interrupt Disable bit of the PCI command register is
// cleared after each (Linux, Documentation/driver-api/uio-howto.rst). Memory for DMA comes from
// u-dma-buf (/dev/udmabufN, its bus address and size in /sys/class/u-dma-buf): buffer k belongs to
// board k.
#include "libgdr/driver/node.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "libgdr/driver/file.hpp"

namespace gdr::driver {
namespace {

namespace fs = std::filesystem;

/// The vendor id is Altera's, whose FPGA joined the original board to its host; the device is ours.
constexpr std::string_view default_id = "1172:6d72";
constexpr std::uint64_t page = 4096, least_buffer = 256 << 10;

std::string environment(const char* name, std::string_view otherwise) {
  const char* const value = std::getenv(name);
  return std::string(value != nullptr && *value != 0 ? value : otherwise);
}

/// A number in a file of sysfs: hexadecimal with 0x, or decimal.
std::optional<std::uint64_t> read_number(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return {};
  const bool hex = text.starts_with("0x");
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (error != std::errc{} || stop != end) return {};
  return value;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

class NodeBoard final : public BoardAccess {
 public:
  NodeBoard(const Node& node, double queue_seconds) : name_("board at " + node.address) {
    interrupt_ = open_file(node.interrupt);
    lock(queue_seconds);
    config_ = open_file(node.config);
    const File registers = open_file(node.registers), memory = open_file(node.memory);
    bar_ = Mapping(registers, bar_bytes, name_ + ": its registers");
    if (node.memory_bytes < least_buffer)
      throw Error(ErrorCategory::Device, name_ + ": its buffer of " +
                                             std::to_string(node.memory_bytes) +
                                             " bytes for DMA is too small; give it some megabytes");
    memory_ = Mapping(memory, node.memory_bytes, name_ + ": its buffer for DMA");
    bus_ = node.memory_bus;
    enable_interrupts();
  }

  std::byte* bar() noexcept override { return bar_.data(); }
  const std::string& name() const noexcept override { return name_; }
  std::uint64_t largest_area() const noexcept override { return memory_.size() - control_bytes_; }
  /// The board looks at its doorbell itself.
  void signal_doorbell() noexcept override {}

  /// The buffer has two places: what is asked for first, the rings, and the rest for data.
  DmaArea allocate(std::uint64_t bytes) override {
    const bool first = control_bytes_ == 0;
    if ((!first && data_taken_) || bytes > largest_area())
      throw Error(ErrorCategory::Device,
                  name_ + ": its buffer for DMA has no " + std::to_string(bytes) + " bytes left");
    if (first) {
      control_bytes_ = (bytes + page - 1) / page * page;
      return {memory_.data(), bus_, control_bytes_};
    }
    data_taken_ = true;
    return {memory_.data() + control_bytes_, bus_ + control_bytes_, largest_area()};
  }
  void release(const DmaArea& area) noexcept override {
    if (area.bus == bus_)
      control_bytes_ = 0;
    else
      data_taken_ = false;
  }

  Woken wait(std::chrono::nanoseconds most) override {
    if (read(Register::Identity) == ~std::uint64_t{0}) return Woken::Gone;  // nothing answers
    pollfd p{interrupt_.get(), POLLIN, 0};
    const timespec limit{most.count() / 1'000'000'000, most.count() % 1'000'000'000};
    if (ppoll(&p, 1, &limit, nullptr) <= 0) return Woken::Timeout;
    std::uint32_t count = 0;
    if (::read(interrupt_.get(), &count, sizeof(count)) != sizeof(count)) {
      std::this_thread::sleep_for(
          std::min<std::chrono::nanoseconds>(most, std::chrono::milliseconds(1)));
      return Woken::Timeout;  // no interrupts come this way: the caller looks for itself
    }
    enable_interrupts();
    return Woken::Interrupt;
  }

 private:
  File open_file(const std::string& path) const {
    File file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (!file)
      throw Error(ErrorCategory::Device,
                  name_ + ": " + path + " cannot be opened: " + system_error());
    return file;
  }

  /// One owner at a time.
  void lock(double queue_seconds) const {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(queue_seconds);
    while (flock(interrupt_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (std::chrono::steady_clock::now() >= end)
        throw Error(ErrorCategory::Device, name_ + " is taken by another process");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  /// Clears Interrupt Disable, bit 10 of the command register.
  void enable_interrupts() const noexcept {
    constexpr off_t high_byte_of_command = 5;
    unsigned char byte = 0;
    if (pread(config_.get(), &byte, 1, high_byte_of_command) != 1) return;
    byte &= static_cast<unsigned char>(~0x04U);
    [[maybe_unused]] const ssize_t n = pwrite(config_.get(), &byte, 1, high_byte_of_command);
  }

  std::string name_;
  File interrupt_, config_;
  Mapping bar_, memory_;
  std::uint64_t bus_ = 0;
  std::uint64_t control_bytes_ = 0;  ///< of the rings, at the beginning; 0: not taken
  bool data_taken_ = false;
};

}  // namespace

std::vector<Node> find_nodes() {
  const fs::path sys = environment("GDR_SYSFS", "/sys"), dev = environment("GDR_DEV", "/dev");
  const std::string id = environment("GDR_PCI_ID", default_id);
  std::vector<Node> nodes;
  const std::vector<fs::path> buffers = entries(sys / "class/u-dma-buf");
  for (const fs::path& device : entries(sys / "bus/pci/devices")) {
    const auto vendor = read_number(device / "vendor"), kind = read_number(device / "device");
    if (!vendor || !kind) continue;
    char text[16];
    std::snprintf(text, sizeof(text), "%04x:%04x", static_cast<unsigned>(*vendor & 0xffff),
                  static_cast<unsigned>(*kind & 0xffff));
    const std::vector<fs::path> uio = entries(device / "uio");
    if (text != id || uio.empty() || nodes.size() >= buffers.size()) continue;
    const fs::path& buffer = buffers[nodes.size()];
    Node node{device.filename(),
              device / "resource0",
              device / "config",
              dev / uio.front().filename(),
              dev / buffer.filename(),
              read_number(buffer / "phys_addr").value_or(0),
              read_number(buffer / "size").value_or(0)};
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::unique_ptr<BoardAccess> open_node(const Node& node, double queue_seconds) {
  return std::make_unique<NodeBoard>(node, queue_seconds);
}

}  // namespace gdr::driver
