// Boards that change their owner, and what is left of those who go: at any moment, in the right
// order, and nothing.
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
#include "libgdr/driver/driven_board.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

/// What a process has: open files, threads, and memory that it shares with boards.
struct Holdings {
  std::size_t files = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
  std::size_t shared = count_shared();

  friend bool operator==(const Holdings&, const Holdings&) = default;

 private:
  static std::size_t count_shared() {
    std::ifstream maps("/proc/self/maps");
    std::size_t n = 0;
    for (std::string line; std::getline(maps, line);) n += says(line, "memfd:gdr") ? 1 : 0;
    return n;
  }
};

/// Everything that the next owner can see of a board is as new.
void check_fresh(const ServerProcess& server) {
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
  const auto board = driver::drive_board(std::move(access), {5});
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

TEST_CASE("an owner that is killed at any moment leaves a board that nobody has used") {
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
    check_fresh(server);
  }
  Device device = Device::open(server.device("queue_timeout=20"));
  CHECK(forces(device, 50, 20) == wanted);
}

TEST_CASE("who waits for a board gets it in the order in which they came") {
  const ServerProcess server;
  auto first = std::make_unique<Device>(Device::open(server.device()));
  std::vector<int> order;
  std::mutex mutex;
  std::vector<std::thread> crew;
  for (int k = 0; k < 4; ++k) {
    crew.emplace_back([&, k] {
      Device device = Device::open(server.device("queue_timeout=30"));
      const std::scoped_lock lock(mutex);
      order.push_back(k);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  first.reset();
  for (std::thread& thread : crew) thread.join();
  CHECK(order == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("a server that ends while its boards work is an error in time, however it ends") {
  for (const int how : {SIGTERM, SIGINT, SIGHUP, SIGKILL}) {
    INFO("signal " << how);
    ServerProcess server({"--boards", "2", "--threads", "1"});
    Device device = Device::open(server.device("boards=2"));
    std::atomic<bool> begun = false;
    std::string error;
    std::thread work([&] {
      error = error_of([&] {
        for (;;) {
          forces(device, 3000, 4000);
          begun = true;
        }
      });
    });
    while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto begin = std::chrono::steady_clock::now();
    server.signal(how);
    const int status = server.wait();
    work.join();
    CHECK(status == (how == SIGKILL ? -SIGKILL : 0));
    CHECK(says(error, "all 2 boards failed"));
    CHECK(seconds_since(begin) < 10);
  }
}

TEST_CASE("a device that cannot be opened leaves nothing behind") {
  const ServerProcess server({"--boards", "2"});
  const ServerProcess broken({"--inject", "wrong-result@2:9x1000000"});
  const ServerProcess dying({"--inject", "die@2"});
  const ServerProcess poor({"--memory", "1"});
  const auto fail = [&](const std::string& name) {
    CHECK(error_of([&] { Device::open(name); }) != "no error");
  };
  const auto all = [&] {
    fail(server.device("pes=16"));
    fail(server.device("engine=reference"));
    fail(server.device("boards=3,queue_timeout=0"));
    fail(broken.device());
    fail(dying.device());
    fail(poor.device());
    fail("board:unix:/nowhere/socket");
    FakeBus bus;
    bus.add_device();
    fail("board:7");
  };
  all();  // once, for what the library keeps for good
  const Holdings before;
  for (int k = 0; k < 3; ++k) all();
  {
    Device device = Device::open(server.device("boards=2,health_check=0.01"));
    forces(device, 1500, 40);
    CHECK(!(Holdings() == before));  // so they would be seen
  }
  const Holdings after;
  CHECK(after.files == before.files);
  CHECK(after.threads == before.threads);
  CHECK(after.shared == before.shared);
}
