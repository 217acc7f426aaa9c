// The board as its bus sees it: registers as documented, checksums, and a board on a device node.
#include "emulator/board/hardware/hardware.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "driver/server_process.hpp"
#include "emulator/board/hardware/checksum.hpp"
#include "libgdr/driver/file.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;
namespace fs = std::filesystem;

TEST_CASE("docs/board.md has the table of registers that the board has") {
  std::ifstream file(std::string(GDR_SOURCE_DIR) + "/docs/board.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  INFO(register_page());
  CHECK(says(page, register_page()));
}

TEST_CASE("registers lie apart, and on the side of who writes them") {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
  for (const RegisterRow& row : register_table()) {
    const auto begin = static_cast<std::uint32_t>(row.reg);
    taken.emplace_back(begin, begin + 8 * row.words);
  }
  std::sort(taken.begin(), taken.end());
  for (std::size_t k = 1; k < taken.size(); ++k) CHECK(taken[k - 1].second <= taken[k].first);
  CHECK(taken.back().second <= bar_bytes);
  constexpr unsigned last = GeometryLimits::chips - 1;
  CHECK(static_cast<std::uint32_t>(of_chip(Register::ChipRefused, last)) < host_registers);
  CHECK(static_cast<std::uint32_t>(of_chip(Register::ChipDoorbell, last)) < bar_bytes);
}

TEST_CASE("a checksum sees every single bit, and words that change places") {
  std::mt19937_64 random(1);
  for (const std::size_t n : {1, 2, 3, 4, 5, 17, 64}) {
    std::vector<std::uint64_t> words(n), copy(n);
    for (auto& w : words) w = random();
    const std::uint64_t sum = checksum(words);
    CHECK(copy_and_sum(words.data(), copy.data(), n) == sum);
    CHECK(copy == words);
    for (std::size_t bit = 0; bit < 64 * n; ++bit) {
      words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
      if (checksum(words) == sum) FAIL("bit " << bit << " of " << n << " words is not seen");
      words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
    }
    for (std::size_t k = 1; k < n; ++k) {
      std::swap(words[0], words[k]);
      CHECK(checksum(words) != sum);
      std::swap(words[0], words[k]);
    }
    words.push_back(0);
    CHECK(checksum(words) != sum);
  }
}

namespace {

void put_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// A bus with one board, as files: sysfs, the nodes, and the board itself in a thread.
class FakeBus {
 public:
  explicit FakeBus(const std::string& engine = "") {
    char folder[] = "/tmp/gdr-bus-XXXXXX";
    root_ = mkdtemp(folder);
    const fs::path device = root_ / "sys/bus/pci/devices/0000:03:00.0";
    put_file(device / "vendor", "0x1172\n");
    put_file(device / "device", "0x6d72\n");
    put_file(device / "config", std::string(64, '\xff'));
    fs::create_directories(device / "uio/uio7");
    put_file(root_ / "sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n");
    put_file(root_ / "sys/bus/pci/devices/0000:01:00.0/device", "0x1234\n");
    put_file(root_ / "sys/class/u-dma-buf/udmabuf0/phys_addr", "0x0000000140000000\n");
    put_file(root_ / "sys/class/u-dma-buf/udmabuf0/size", std::to_string(memory_bytes) + "\n");
    put_file(device / "resource0", "");
    put_file(root_ / "dev/udmabuf0", "");
    fs::resize_file(device / "resource0", bar_bytes);
    fs::resize_file(root_ / "dev/udmabuf0", memory_bytes);
    REQUIRE(mkfifo((root_ / "dev/uio7").c_str(), 0600) == 0);
    bar_ = driver::Mapping(open(device / "resource0"), bar_bytes, "registers");
    memory_ = driver::Mapping(open(root_ / "dev/udmabuf0"), memory_bytes, "memory");
    fifo_ = open(root_ / "dev/uio7");
    space_.add({memory_.data(), 0x140000000, memory_bytes});
    Geometry g;
    g.chips_per_board = g.blocks = 2;
    board_ = std::make_unique<BoardHardware>(
        HardwareParts{g, make_engine(engine), 1}, bar_.data(), space_,
        HardwareSignals{[this] {
                          const std::uint32_t count = ++interrupts_;
                          [[maybe_unused]] const auto n = write(fifo_.get(), &count, 4);
                        },
                        {}});
    thread_ = std::thread([this] {
      while (!ended_)
        if (!board_->step()) std::this_thread::sleep_for(std::chrono::microseconds(20));
    });
    setenv("GDR_SYSFS", (root_ / "sys").c_str(), 1);
    setenv("GDR_DEV", (root_ / "dev").c_str(), 1);
  }
  ~FakeBus() {
    unsetenv("GDR_SYSFS");
    unsetenv("GDR_DEV");
    ended_ = true;
    thread_.join();
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  std::string config() const {
    std::ifstream file(root_ / "sys/bus/pci/devices/0000:03:00.0/config");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  unsigned interrupts() const { return interrupts_; }

 private:
  static constexpr std::size_t memory_bytes = std::size_t{1} << 20;
  static driver::File open(const fs::path& path) {
    return driver::File(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  }
  fs::path root_;
  driver::Mapping bar_, memory_;
  driver::File fifo_;
  DmaSpace space_;
  std::unique_ptr<BoardHardware> board_;
  std::atomic<bool> ended_ = false;
  std::atomic<unsigned> interrupts_ = 0;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a board on the bus is found by its id and gives the emulator's bits") {
  const FakeBus bus;
  {
    Device device = Device::open("board:0");
    CHECK(says(device.description(), "board:0: 1 board of 2 chips"));
    CHECK(says(error_of([] { Device::open("board:0,queue=0"); }), "taken by another process"));
    // Its buffer of a megabyte cannot grow: lists go in parts.
    for (const auto& [targets, sources] : {std::pair{100, 40}, {3000, 70}, {9, 90000}})
      CHECK(forces(device, static_cast<std::size_t>(targets), static_cast<std::size_t>(sources)) ==
            expected_forces(static_cast<std::size_t>(targets), static_cast<std::size_t>(sources)));
    CHECK((bus.config()[5] & 0x04) == 0);  // interrupts are not disabled
  }
  CHECK(says(Device::open("auto").description(), "taken by auto: a board on this host's bus"));
  CHECK(says(error_of([] { Device::open("board:3"); }), "board 3 is not there; this host has 1"));
}

TEST_CASE("a host without a board says so") {
  setenv("GDR_SOCKET", "/nowhere/socket", 1);
  CHECK(says(error_of([] { Device::open("board:0"); }), "no board server answers"));
  unsetenv("GDR_SOCKET");
}
