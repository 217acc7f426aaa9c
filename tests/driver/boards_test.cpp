// Boards of a server return the emulator's bits, alone and concurrently.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "driver/interrupted_jobs.hpp"
#include "driver/server_process.hpp"
#include "emulator/host/stopwatch.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace driver_test;

namespace {

std::vector<double> product(gdr::Device& device, std::size_t m = 150) {
  constexpr std::size_t n = 21, k = 300;
  const auto a = library_test::rough_values(m * k, 5), b = library_test::rough_values(k * n, 6);
  std::vector<double> c = library_test::rough_values(m * n, 7);
  gdr::MatrixProduct matrices(device);
  matrices.compute(m, n, k, 1.5, {a.data(), m}, {b.data(), k}, -0.5, {c.data(), m});
  return c;
}

std::vector<double> gravity(gdr::Device& device) {
  constexpr std::size_t n = 700;
  const std::vector<double> position = library_test::rough_values(3 * n, 1), mass(n, 1.0 / n);
  std::vector<double> results(4 * n);
  gdr::Gravity(device).compute(n, position.data(), mass.data(), 0.03, results.data(),
                               results.data() + 3 * n);
  return results;
}

}  // namespace

TEST_CASE("a board of a server returns the emulator's bits") {
  const ServerProcess server;
  gdr::Device here = gdr::Device::open("exact:" + small_machine);
  gdr::Device there = gdr::Device::open(server.device());
  CHECK(contains(there.description(), "board:unix:" + server.socket() + ": 1 board of 2 chips"));
  CHECK(gravity(there) == gravity(here));
  CHECK(product(there) == product(here));
  // All targets at once, several batches, a few with many sources, none.
  for (const auto& [targets, sources] : {std::pair{100, 40}, {3000, 70}, {7, 5000}, {5, 0}, {0, 5}})
    CHECK(forces(there, static_cast<std::size_t>(targets), static_cast<std::size_t>(sources)) ==
          forces(here, static_cast<std::size_t>(targets), static_cast<std::size_t>(sources)));
  const gdr::Statistics a = here.statistics(), b = there.statistics();
  CHECK(a.chip_clocks == b.chip_clocks);
  CHECK(a.bytes_to_board == b.bytes_to_board);
  CHECK(a.bytes_from_board == b.bytes_from_board);
  CHECK(a.predicted_seconds == Approx(b.predicted_seconds));
  CHECK(a.fast_runs == b.fast_runs);
  CHECK(b.board_seconds > 0);
  CHECK(b.transfer_seconds > 0);
}

TEST_CASE("concurrent boards return the same bits") {
  const ServerProcess server({"--boards", "3"});
  gdr::Device three = gdr::Device::open(server.device("boards=3"));
  CHECK(contains(three.description(), "3 boards"));
  CHECK(forces(three, 3000, 90) == expected_forces(3000, 90));
  gdr::Device here = gdr::Device::open("exact:" + small_machine);
  CHECK(product(three, 1300) == product(here, 1300));
}

TEST_CASE("the unfinished rows of a failed board's product are computed by other boards") {
  gdr::Device here = gdr::Device::open("exact:" + small_machine);
  const std::vector<double> small = product(here), wanted = product(here, 1300);
  const ServerProcess server({"--boards", "3", "--inject", "crash@14"});
  gdr::Device device = gdr::Device::open(server.device("boards=3,self_test=0"));
  std::string error = "no error";
  unsigned max_failed = 0;
  for (int k = 0; k < 100 && error == "no error"; ++k) {
    // A small product uses only the first board, which therefore fails first.
    std::vector<double> c = small, large = wanted;
    error = error_of([&] {
      c = product(device);
      large = product(device, 1300);
    });
    CHECK(c == small);
    CHECK(large == wanted);
    if (error == "no error") max_failed = device.statistics().failed_boards;
  }
  CHECK(max_failed >= 1);
  CHECK(contains(error, "all 3 boards failed"));
}

TEST_CASE("the work of a failed board is repeated by other boards") {
  // Every board fails at its fortieth list. The first board executes most lists: it fails first,
  // during a job, then the others, until none is left.
  const ServerProcess server({"--boards", "3", "--inject", "crash@40"});
  gdr::Device device = gdr::Device::open(server.device("boards=3,self_test=0"));
  const std::vector<double> wanted[] = {expected_forces(200, 90), expected_forces(3000, 90)};
  std::string error;
  unsigned max_failed = 0;
  for (int k = 0; k < 200 && error.empty(); ++k) {
    const bool large = k % 3 != 0;
    std::vector<double> results = wanted[large];
    error = error_of([&] { results = forces(device, large ? 3000 : 200, 90); });
    CHECK(results == wanted[large]);
    if (error == "no error") {
      error.clear();
      max_failed = std::max(max_failed, device.statistics().failed_boards);
    }
  }
  CHECK(max_failed >= 1);  // jobs completed after a failure
  INFO(error);
  CHECK(contains(error, "all 3 boards failed"));
  CHECK(device.statistics().failed_boards == 3);
}

TEST_CASE("options that a board does not satisfy are errors") {
  const ServerProcess server;
  const auto open = [&](const std::string& options) {
    return error_of([&] { gdr::Device::open(server.device(options)); });
  };
  CHECK(contains(open("pes=16"), "device option pes=16: board 0 of"));
  CHECK(open("pes=32,chips=2") == "no error");
  CHECK(contains(open("engine=reference"),
                 "request no other, or start the server with --any-engine"));
  CHECK(contains(open("boards=2,queue_timeout=0.05"),
                 "no board became free within the queue timeout"));
  CHECK(contains(error_of([] { gdr::Device::open("board:unix:/nowhere/socket"); }),
                 "no board server answers at /nowhere/socket"));
  CHECK(contains(error_of([] { gdr::Device::open("board:unix:"); }), "names no socket"));
  CHECK(contains(error_of([] { gdr::Device::open("board:one"); }), "board:NUMBER (0 to 255)"));
}

TEST_CASE("clients choose the engine of a server with --any-engine") {
  const ServerProcess server({"--any-engine"});
  gdr::Device device = gdr::Device::open(server.device("engine=reference"));
  CHECK(device.statistics().engine == "reference");
  CHECK(forces(device, 60, 30) == expected_forces(60, 30));
}

TEST_CASE("auto selects a board server that answers, else the emulator, and reports the reason") {
  setenv("GDR_SOCKET", "/nowhere/socket", 1);
  CHECK(contains(gdr::Device::open("auto").description(),
                 "selected by auto: no board on this host's bus; "
                 "no board server answers"));
  const ServerProcess server;
  setenv("GDR_SOCKET", server.socket().c_str(), 1);
  const std::string taken = gdr::Device::open("auto").description();
  const std::string numbered = gdr::Device::open("board:0").description();
  unsetenv("GDR_SOCKET");
  CHECK(contains(taken, "board:unix:" + server.socket()));
  CHECK(contains(numbered, "board:unix:" + server.socket()));
}

TEST_CASE("the self-test passes on working boards") {
  const ServerProcess server({"--boards", "2"});
  gdr::Device device = gdr::Device::open(server.device("boards=2"));
  const std::vector<gdr::BoardTest> tests = device.test(2);
  REQUIRE(tests.size() == 2);
  for (const gdr::BoardTest& t : tests) CHECK(t.failure.empty());
  CHECK(tests[0].board == "board 0 of " + server.socket());
  CHECK(forces(device, 60, 30) == expected_forces(60, 30));
}

TEST_CASE("an interrupt cancels a job on a server's board, which remains usable") {
  const ServerProcess server;
  gdr::Device device = gdr::Device::open(server.device());
  check_interrupts(device);
}

TEST_CASE("a late interrupt of a job does not concern the next job") {
  const ServerProcess server({"--boards", "2"});
  const std::string emulator = "emulator:" + small_machine;
  const std::string names[] = {emulator, emulator + ",boards=2", emulator + ",engine=native",
                               server.device(), server.device("boards=2")};
  const std::string& name = names[GENERATE(0, 1, 2, 3, 4)];
  INFO(name);
  gdr::Device device = gdr::Device::open(name);
  check_late_interrupts(device);
}

TEST_CASE("the timeline of a server's board has its lists, with the emulator's durations") {
  const ServerProcess server;
  gdr::Device here = gdr::Device::open("exact:" + small_machine);
  gdr::Device there = gdr::Device::open(server.device());
  std::vector<double> ends;
  for (gdr::Device* const device : {&here, &there}) {
    device->record_timeline(true);
    CHECK(forces(*device, 300, 50) == expected_forces(300, 50));
    double busy = 0, before = 0;
    std::size_t runs = 0, lists = 0;
    for (const gdr::TimelineEvent& event : device->timeline()) {
      CHECK(event.end >= event.begin);
      if (event.clock == gdr::TimelineClock::Measured) {
        lists += event.what == "command list" ? 1 : 0;
        CHECK((event.part == "host" || event.part == "board"));
        continue;
      }
      runs += event.what == "run" ? 1 : 0;
      busy = std::max(busy, event.end);
      if (device == &here) continue;
      CHECK(event.begin >= before);
      before = event.end;
      CHECK(event.part == "board");
    }
    ends.push_back(busy);
    CHECK(runs > 0);
    CHECK(lists > 0);
    device->record_timeline(false);
    CHECK(device->timeline().empty());
  }
  CHECK(ends[0] == Approx(ends[1]));
  CHECK(ends[1] == Approx(there.statistics().predicted_seconds));
}
