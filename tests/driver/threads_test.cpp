// Concurrent use of a device by several threads, and of several devices.
#include <atomic>
#include <thread>

#include "driver/server_process.hpp"
#include "support/catch.hpp"

using namespace driver_test;

namespace {

/// Runs jobs in several threads and counts wrong results: assertions are not thread-safe.
int use(gdr::Device& device, unsigned threads, std::size_t targets) {
  std::atomic<int> wrong = 0;
  std::vector<std::vector<double>> wanted;
  for (unsigned t = 0; t < threads; ++t) wanted.push_back(expected_forces(targets, 30, t));
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (int k = 0; k < 4; ++k) {
        if (forces(device, targets, 30, t) != wanted[t]) ++wrong;
        if (device.statistics().runs == 0 || device.description().empty()) ++wrong;
        if (device.target_slots(gdr::Kernel::builtin("gravity")) == 0) ++wrong;
      }
    });
  for (std::thread& thread : workers) thread.join();
  return wrong;
}

}  // namespace

TEST_CASE("several threads use one device concurrently") {
  gdr::Device emulator = gdr::Device::open("exact:" + small_machine);
  CHECK(use(emulator, 4, 300) == 0);
  CHECK(emulator.statistics().runs == 16);
  const ServerProcess server({"--boards", "2", "--threads", "1"});
  gdr::Device boards = gdr::Device::open(server.device("boards=2"));
  CHECK(use(boards, 4, 1500) == 0);
  CHECK(boards.statistics().runs == 16);
}

TEST_CASE("several devices are used and self-tested concurrently") {
  const ServerProcess server({"--boards", "2", "--threads", "1"});
  gdr::Device one = gdr::Device::open(server.device());
  gdr::Device two = gdr::Device::open(server.device());
  gdr::Device here = gdr::Device::open("exact:" + small_machine);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> workers;
  for (gdr::Device* device : {&one, &two, &here})
    workers.emplace_back([&wrong, device] { wrong += use(*device, 2, 200); });
  for (int k = 0; k < 3; ++k)
    for (gdr::Device* device : {&one, &here})
      for (const gdr::BoardTest& test : device->test()) wrong += test.failure.empty() ? 0 : 1;
  for (std::thread& thread : workers) thread.join();
  CHECK(wrong == 0);
}
