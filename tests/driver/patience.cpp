// How long the driver waits: as long as the work asks, and not longer.
#include "libgdr/driver/patience.hpp"

#include <chrono>
#include <utility>

#include "driver/server_process.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr::driver;

namespace {

/// Seconds until a device's next job ends, and what it says.
std::pair<double, std::string> end_of(gdr::Device& device) {
  const auto begin = std::chrono::steady_clock::now();
  std::string error = "no error";
  for (int k = 0; k < 3 && error == "no error"; ++k)
    error = error_of([&] { forces(device, 100, 20); });
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), error};
}

}  // namespace

TEST_CASE("patience follows from the work, within bounds, unless it is given") {
  const ListWork nothing, copying{2'000'000'000}, some{200'000'000};
  ListWork long_run, hour;
  long_run.block_lane_clocks = 1e8;
  hour.lane_clocks = 1e12;
  CHECK(patience(0, nothing).quiet_seconds == 5);
  CHECK(patience(0, nothing).whole_seconds == 50);
  CHECK(patience(0, some).quiet_seconds == Approx(15));
  CHECK(patience(0, copying).quiet_seconds == 60);
  CHECK(patience(0, long_run).quiet_seconds == Approx(25));
  CHECK(patience(0, hour).quiet_seconds == 5);
  CHECK(patience(0, hour).whole_seconds > 1e6);
  CHECK(patience(0.25, copying).quiet_seconds == 0.25);
  const Patience both = patience(0, some) + patience(0, nothing);
  CHECK(both.quiet_seconds == Approx(15));
  CHECK(both.whole_seconds == patience(0, some).whole_seconds + 50);
  CHECK(longest_silence(0) == 60);
  CHECK(longest_silence(3) == 3);
}

TEST_CASE("a stuck queue is found out soon where the work is small") {
  const ServerProcess server({"--inject", "hang@3"});
  gdr::Device device = gdr::Device::open(server.device("self_test=0"));
  const auto [seconds, error] = end_of(device);
  INFO(error);
  CHECK(says(error, "no sign of life for 5"));
  CHECK(seconds > 4.9);
  CHECK(seconds < 20);
}

TEST_CASE("a board that shows signs of life and nothing else is given up, too") {
  const ServerProcess server({"--inject", "hang-with-heartbeat@3"});
  gdr::Device device = gdr::Device::open(server.device("self_test=0,timeout=0.1"));
  const auto [seconds, error] = end_of(device);
  INFO(error);
  CHECK(says(error, "it shows signs of life, but a list is not done after"));
  CHECK(seconds < 20);
}

TEST_CASE("a long list that goes on is not given up, however short the time-out") {
  const ServerProcess server({"--engine", "reference", "--threads", "1"});
  gdr::Device device = gdr::Device::open(server.device("timeout=0.3,partition=targets"));
  std::size_t sources = 3000;
  std::vector<double> results;
  for (std::chrono::duration<double> spent{}; spent.count() < 0.5; sources *= 2) {
    const auto begin = std::chrono::steady_clock::now();
    results = forces(device, 512, sources);
    spent = std::chrono::steady_clock::now() - begin;
  }
  CHECK(device.statistics().lost_boards == 0);
  gdr::Device here = gdr::Device::open("emulator:partition=targets," + small_machine);
  CHECK(forces(here, 512, sources / 2) == results);
}
