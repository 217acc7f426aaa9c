// Transfer of ownership of boards: queue order, initial state for the next owner, and release of
// all resources.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "driver/fake_bus.hpp"
#include "driver/server_process.hpp"
#include "emulator/board/hardware/registers.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/driver/remote_board.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

std::size_t count_entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

/// Resources of this process: open files, threads, and mappings shared with boards.
struct Resources {
  std::size_t files = count_entries("/proc/self/fd"), threads = count_entries("/proc/self/task");
  std::size_t shared = count_shared();

  friend bool operator==(const Resources&, const Resources&) = default;

 private:
  static std::size_t count_shared() {
    std::ifstream maps("/proc/self/maps");
    std::size_t n = 0;
    for (std::string line; std::getline(maps, line);) n += contains(line, "memfd:gdr") ? 1 : 0;
    return n;
  }
};

/// Checks that registers and memories of the server's board are in their initial state.
void check_initial_state(const ServerProcess& server) {
  auto access = driver::open_server_board(server.socket(), {"", "", 20});
  for (const Register r :
       {Register::Head, Register::Interrupts, Register::Error, Register::Lists, Register::Refused,
        Register::BytesIn, Register::BytesOut, Register::ChecksumErrors, Register::BusyNanoseconds,
        Register::Doorbell, Register::RingBase, Register::Stop})
    CHECK(access->read(r) == 0);
  for (unsigned chip = 0; chip < 2; ++chip)
    for (const Register r : {Register::ChipStatus, Register::ChipCommands, Register::ChipError,
                             Register::ChipInstructions, Register::ChipHead})
      CHECK(access->read(of_chip(r, chip)) == 0);
  const auto board = std::make_unique<driver::RemoteBoard>(std::move(access), 5);
  CommandList list;
  for (unsigned chip = 0; chip < 2; ++chip) {
    Command c;
    c.kind = CommandKind::ReadMemory;
    c.chips = std::uint64_t{1} << chip;
    c.count = 20000;
    list.commands.push_back(c);
  }
  std::vector<std::uint64_t> results;
  board->execute(list, results);
  CHECK(results == std::vector<std::uint64_t>(40000, 0));
}

}  // namespace

TEST_CASE("after an owner is killed at a random moment the board is in its initial state") {
  const ServerProcess server({"--threads", "1"});
  const std::vector<double> wanted = expected_forces(50, 20);
  std::mt19937 random(3);
  for (int k = 0; k < 12; ++k) {
    const pid_t owner = fork();
    if (owner == 0) {
      try {
        Device device = Device::open(server.device("self_test=" + std::to_string(k % 2)));
        for (;;) forces(device, 1500, 4000);
      } catch (...) {
      }
      _exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 80));
    kill(owner, SIGKILL);
    waitpid(owner, nullptr, 0);
    check_initial_state(server);
  }
  Device device = Device::open(server.device("queue_timeout=20"));
  CHECK(forces(device, 50, 20) == wanted);
}

TEST_CASE("clients get a board in the order of their requests") {
  const ServerProcess server;
  auto first = std::make_unique<Device>(Device::open(server.device()));
  std::vector<int> order;
  std::mutex mutex;
  std::vector<std::thread> clients;
  for (int k = 0; k < 4; ++k) {
    clients.emplace_back([&, k] {
      Device device = Device::open(server.device("queue_timeout=30"));
      const std::scoped_lock lock(mutex);
      order.push_back(k);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  first.reset();
  for (std::thread& thread : clients) thread.join();
  CHECK(order == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("the end of a server during a job is reported as an error within ten seconds") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGKILL}) {
    INFO("signal " << signal);
    ServerProcess server({"--boards", "2", "--threads", "1"});
    Device device = Device::open(server.device("boards=2"));
    std::atomic<bool> started = false;
    std::string error;
    std::thread work([&] {
      error = error_of([&] {
        for (;;) {
          forces(device, 3000, 4000);
          started = true;
        }
      });
    });
    while (!started) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Stopwatch stopwatch;
    server.signal(signal);
    const int status = server.wait();
    work.join();
    CHECK(status == (signal == SIGKILL ? -SIGKILL : 0));
    CHECK(contains(error, "all 2 boards failed"));
    CHECK(stopwatch.seconds() < 10);
  }
}

TEST_CASE("a device that cannot be opened releases all resources") {
  const ServerProcess server({"--boards", "2"});
  const ServerProcess broken({"--inject", "wrong-result@2:9x1000000"});
  const ServerProcess failing({"--inject", "crash@2"});
  const ServerProcess limited({"--memory", "1"});
  const auto fail = [&](const std::string& name) {
    CHECK(error_of([&] { Device::open(name); }) != "no error");
  };
  const auto fail_all = [&] {
    fail(server.device("pes=16"));
    fail(server.device("engine=reference"));
    fail(server.device("boards=3,queue_timeout=0"));
    fail(broken.device());
    fail(failing.device());
    fail(limited.device());
    fail("board:unix:/nowhere/socket");
    FakeBus bus;
    bus.add_device();
    fail("board:7");
  };
  fail_all();  // allocates what the library keeps permanently
  const Resources before;
  for (int k = 0; k < 3; ++k) fail_all();
  {
    Device device = Device::open(server.device("boards=2,health_check=0.01"));
    forces(device, 1500, 40);
    CHECK(!(Resources() == before));  // the counts detect leaks
  }
  const Resources after;
  CHECK(after.files == before.files);
  CHECK(after.threads == before.threads);
  CHECK(after.shared == before.shared);
}
