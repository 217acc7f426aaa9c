// Timeouts of the driver depend on the work in flight.
#include <string>
#include <utility>
#include <vector>

#include "driver/server_process.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/driver/list_work.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr::driver;

namespace {

/// Time until a job of a device fails, in seconds, and its error.
std::pair<double, std::string> run_until_error(gdr::Device& device) {
  const gdr::Stopwatch stopwatch;
  std::string error = "no error";
  for (int k = 0; k < 3 && error == "no error"; ++k)
    error = error_of([&] { forces(device, 100, 20); });
  return {stopwatch.seconds(), error};
}

}  // namespace

TEST_CASE("timeouts are derived from the work within bounds, unless the user sets one") {
  const ListWork nothing, copying{2'000'000'000}, some{200'000'000};
  ListWork long_run, hour;
  long_run.block_lane_clocks = 1e8;
  hour.lane_clocks = 1e12;
  CHECK(timeout_policy(0, nothing).heartbeat_seconds == 5);
  CHECK(timeout_policy(0, nothing).total_seconds == 50);
  CHECK(timeout_policy(0, some).heartbeat_seconds == Approx(15));
  CHECK(timeout_policy(0, copying).heartbeat_seconds == 60);
  CHECK(timeout_policy(0, long_run).heartbeat_seconds == Approx(25));
  CHECK(timeout_policy(0, hour).heartbeat_seconds == 5);
  CHECK(timeout_policy(0, hour).total_seconds > 1e6);
  CHECK(timeout_policy(0.25, copying).heartbeat_seconds == 0.25);
  const TimeoutPolicy both = timeout_policy(0, some) + timeout_policy(0, nothing);
  CHECK(both.heartbeat_seconds == Approx(15));
  CHECK(both.total_seconds == timeout_policy(0, some).total_seconds + 50);
  CHECK(response_timeout(0) == 60);
  CHECK(response_timeout(3) == 3);
}

TEST_CASE("a stuck queue with little work is detected after five seconds") {
  const ServerProcess server({"--inject", "hang@3"});
  gdr::Device device = gdr::Device::open(server.device("self_test=0"));
  const auto [seconds, error] = run_until_error(device);
  INFO(error);
  CHECK(contains(error, "no heartbeat for 5"));
  CHECK(seconds > 4.9);
}

// A busy host delays heartbeats, too: the shortest timeouts are tried first.

TEST_CASE("a board that sends heartbeats but completes no list is marked as failed") {
  std::string error;
  for (const char* timeout : {"0.1", "0.4", "1.6", "6.4"}) {
    const ServerProcess server({"--inject", "hang-with-heartbeat@3"});
    gdr::Device device =
        gdr::Device::open(server.device(std::string("self_test=0,timeout=") + timeout));
    error = run_until_error(device).second;
    if (!contains(error, "no heartbeat")) break;
  }
  CHECK(contains(error, "sends heartbeats, but the command list did not complete within"));
}

TEST_CASE("a long list with heartbeats does not time out, however short the timeout") {
  const ServerProcess server({"--engine", "reference", "--threads", "1"});
  std::string error;
  for (const double timeout : {0.3, 1.2, 4.8, 19.2}) {
    gdr::Device device = gdr::Device::open(
        server.device("queue_timeout=20,partition=targets,timeout=" + std::to_string(timeout)));
    std::size_t sources = 3000;
    std::vector<double> results;
    error = "no error";
    for (double seconds = 0; seconds < timeout + 0.2 && error == "no error"; sources *= 2) {
      const gdr::Stopwatch stopwatch;
      error = error_of([&] { results = forces(device, 512, sources); });
      seconds = stopwatch.seconds();
    }
    if (contains(error, "no heartbeat")) continue;
    REQUIRE(error == "no error");
    CHECK(device.statistics().failed_boards == 0);
    gdr::Device here = gdr::Device::open("exact:partition=targets," + small_machine);
    CHECK(forces(here, 512, sources / 2) == results);
    break;
  }
  CHECK(error == "no error");
}
