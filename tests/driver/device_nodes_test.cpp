// Boards on this host's bus: discovery by PCI id, access through VFIO, and error messages.
#include <linux/vfio.h>

#include <cstdlib>
#include <utility>

#include "driver/fake_bus.hpp"
#include "driver/interrupted_jobs.hpp"
#include "driver/server_process.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

std::string open_error(const std::string& name) {
  setenv("GDR_SOCKET", "/nowhere/socket", 1);
  const std::string error = error_of([&] { Device::open(name); });
  unsetenv("GDR_SOCKET");
  return error;
}

void check_forces(Device& device) {
  for (const auto& [targets, sources] : {std::pair{100, 40}, {3000, 70}, {9, 90000}})
    CHECK(forces(device, static_cast<std::size_t>(targets), static_cast<std::size_t>(sources)) ==
          expected_forces(static_cast<std::size_t>(targets), static_cast<std::size_t>(sources)));
}

}  // namespace

TEST_CASE("a board on the bus is found by its PCI id and returns the emulator's bits") {
  FakeBus bus;
  const FakeBus::Board& board = bus.add_board();
  {
    Device device = Device::open("board:0");
    CHECK(contains(device.description(), "board:0: 1 board of 2 chips"));
    CHECK(contains(error_of([] { Device::open("board:0,queue_timeout=0"); }),
                   "in use by another process"));
    check_forces(device);
    CHECK((board.command() & 0x06) == 0x06);  // Memory Space and Bus Master
  }
  CHECK(
      contains(Device::open("auto").description(), "selected by auto: a board on this host's bus"));
  CHECK(
      contains(error_of([] { Device::open("board:3"); }), "there is no board 3; this host has 1"));
}

TEST_CASE("two boards with the same id share a job") {
  FakeBus bus;
  bus.add_board();
  bus.add_board();
  Device both = Device::open("board:0,boards=2");
  check_forces(both);
  CHECK(both.statistics().failed_boards == 0);
  CHECK(contains(error_of([] { Device::open("board:1,queue_timeout=0"); }),
                 "0000:04:00.0 is in use"));
}

TEST_CASE("unusable devices are reported with a remedy") {
  FakeBus bus;
  bus.add_device();
  CHECK(contains(open_error("board:0"),
                 "0000:03:00.0: it is bound to no driver; bind it to vfio-pci"));
  bus.add_device("some_driver");
  CHECK(contains(open_error("board"), "0000:04:00.0: it is bound to driver some_driver; bind it"));
  bus.add_device("vfio-pci");
  CHECK(contains(open_error("board"),
                 "0000:05:00.0: it is bound to vfio-pci, but has no IOMMU group"));
  setenv("GDR_SOCKET", "/nowhere/socket", 1);
  CHECK(
      contains(Device::open("auto").description(), "bus; 0000:03:00.0: it is bound to no driver"));
  unsetenv("GDR_SOCKET");
}

TEST_CASE("a board with an invalid geometry is rejected") {
  FakeBus bus;
  FakeBus::Board& board = bus.add_board();
  const auto with = [&](Register r, std::uint64_t value) {
    const std::uint64_t before = std::exchange(board.at(r), value);
    const std::string error = open_error("board");
    board.at(r) = before;
    return error;
  };
  for (const auto& [r, value] : {std::pair{Register::Chips, std::uint64_t{65}},
                                 {Register::Blocks, (std::uint64_t{1} << 32) + 2},
                                 {Register::LocalWords, std::uint64_t{1} << 20},
                                 {Register::InstructionWords, std::uint64_t{0}},
                                 {Register::MemoryBytes, ~std::uint64_t{0}},
                                 {Register::ClockHz, std::uint64_t{0x7ff0000000000000}}})
    CHECK(contains(with(r, value), "has registers with an invalid geometry or clock"));
  CHECK(contains(with(Register::Identity, 1), "is not a board: its register IDENTITY"));
  CHECK(contains(with(Register::Version, 0), "has registers of version 0"));
  CHECK(open_error("board") == "no error");
}

TEST_CASE("GDR_PCI_ID selects the PCI id, ignores case, and is validated") {
  FakeBus bus;
  bus.add_board();
  const auto with_id = [](const char* id) {
    setenv("GDR_PCI_ID", id, 1);
    const std::string error = open_error("board:0");
    unsetenv("GDR_PCI_ID");
    return error;
  };
  CHECK(with_id("1172:6D72") == "no error");
  CHECK(with_id("0x1172:0x6d72") == "no error");
  CHECK(contains(with_id("1172:6d73"), "no board server answers"));
  for (const char* const id : {"1172", "1172:", ":6d72", "1172:6d72:0", "11726:1", "gdr:1"})
    CHECK(contains(with_id(id), "write VENDOR:DEVICE, four hexadecimal digits each"));
}

TEST_CASE("a VFIO board returns the emulator's bits, with MSI-X, MSI or pin interrupts") {
  FakeBus bus;
  FakeBus::Board& board = bus.add_board();
  const std::uint32_t pin = VFIO_PCI_INTX_IRQ_INDEX, msi = VFIO_PCI_MSI_IRQ_INDEX,
                      msix = VFIO_PCI_MSIX_IRQ_INDEX;
  board.interrupts = GENERATE_COPY(values({pin, msi, msix}));
  INFO("interrupts " << board.interrupts);
  {
    Device device = Device::open("board:0");
    CHECK(contains(error_of([] { Device::open("board:0,queue_timeout=0"); }),
                   "in use by another process"));
    check_forces(device);
    CHECK((board.command() & 0x06) == 0x06);
    CHECK(board.interrupt_count() > 0);
    CHECK((board.unmask_count() > 0) == (board.interrupts == pin));
    CHECK(board.areas() == 2);
    // Lists exceed the initial transfer memory of four megabytes.
    CHECK(forces(device, 9, 500000) == expected_forces(9, 500000));
    CHECK(device.statistics().failed_boards == 0);
  }
  CHECK(board.areas() == 0);
  Device reopened = Device::open("board:0");
  check_forces(reopened);
}

TEST_CASE("a late interrupt of a job on a VFIO board does not concern the next job") {
  FakeBus bus;
  bus.add_board();
  Device device = Device::open("board:0");
  check_late_interrupts(device);
}

TEST_CASE("lists for a VFIO board are divided if the limit of locked memory is low") {
  FakeBus bus;
  FakeBus::Board& board = bus.add_board();
  board.max_locked = std::uint64_t{6} << 20;
  Device device = Device::open("board:0");
  CHECK(forces(device, 9, 500000) == expected_forces(9, 500000));
  CHECK(device.statistics().failed_boards == 0);
}

TEST_CASE("VFIO errors are reported with a remedy") {
  FakeBus bus;
  FakeBus::Board& board = bus.add_board();
  board.viable = false;
  CHECK(
      contains(open_error("board"), "other devices of its IOMMU group are bound to other drivers"));
  board.viable = true;
  board.bar_size = 4096;
  CHECK(contains(open_error("board"), "its first BAR has 4096 bytes instead of 16384"));
  board.bar_size = bar_bytes;
  board.max_locked = 4096;
  CHECK(contains(open_error("board"), "bytes cannot be mapped for DMA (raise \"ulimit -l\""));
  board.max_locked = std::uint64_t{1} << 30;
  driver::use_system_calls(nullptr);
  CHECK(contains(open_error("board"), "dev/vfio/vfio cannot be opened: No such file"));
  driver::use_system_calls(&bus);
  CHECK(open_error("board") == "no error");
}

TEST_CASE("opening a board on a host without one is an error") {
  CHECK(contains(open_error("board:0"), "no board server answers"));
}
