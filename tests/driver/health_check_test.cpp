// Background health checks of boards: a board that fails is removed before it gets work.
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "driver/server_process.hpp"
#include "support/catch.hpp"

using namespace driver_test;

namespace {

/// Waits until a condition holds; false after 20 seconds.
template <typename Condition>
bool eventually(Condition&& condition) {
  for (int k = 0; k < 1000; ++k) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

/// The first process of the server that serves an owner.
pid_t owner_process(const ServerProcess& server) {
  const std::string main = std::to_string(server.process());
  std::ifstream children("/proc/" + main + "/task/" + main + "/children");
  pid_t first = -1;
  children >> first;
  return first;
}

}  // namespace

TEST_CASE("a health check detects a board that failed while idle") {
  const ServerProcess server({"--boards", "2", "--threads", "1"});
  gdr::Device device = gdr::Device::open(server.device("boards=2,health_check=0.05"));
  CHECK(forces(device, 3000, 40) == expected_forces(3000, 40));
  CHECK(eventually([&] { return device.statistics().checks > 0; }));
  CHECK(device.statistics().failed_boards == 0);
  const pid_t owner = owner_process(server);
  REQUIRE(owner > 0);
  kill(owner, SIGKILL);
  CHECK(eventually([&] { return device.statistics().failed_boards == 1; }));
  CHECK(forces(device, 3000, 40) == expected_forces(3000, 40));
  const std::uint64_t checks = device.statistics().checks;
  CHECK(eventually(
      [&] { return device.statistics().checks > checks; }));  // the other board is still checked
}

TEST_CASE("a health check removes a board that computes wrong results") {
  const ServerProcess server({"--inject", "wrong-result@2:4000x1000000"});
  gdr::Device device = gdr::Device::open(server.device("self_test=0,health_check=0.05"));
  CHECK(eventually([&] { return device.statistics().failed_boards == 1; }));
  const std::string error = error_of([&] { forces(device, 9, 9); });
  INFO(error);
  CHECK(contains(error, "no board is left"));
  CHECK(contains(error, "memory of chip 0"));
}

TEST_CASE("health checks run between jobs of several threads without changing results") {
  gdr::Device device = gdr::Device::open("exact:threads=1,health_check=0.001," + small_machine);
  const std::vector<double> wanted = expected_forces(500, 60);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) wrong += forces(device, 500, 60) == wanted ? 0 : 1;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(eventually([&] { return device.statistics().checks > 1; }));
  CHECK(error_of([] { gdr::Device::open("mpi:health_check=1"); }) ==
        "device option health_check: not supported for devices of kind mpi; remove the option");
  CHECK(
      contains(error_of([] { gdr::Device::open("exact:health_check=often"); }), "seconds from 0"));
}
