// Fault injection: every run returns correct bits or an error with the reason, within a time limit.
// GDR_TEST_ITERATIONS sets the number of runs.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "driver/server_process.hpp"
#include "emulator/host/stopwatch.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

using namespace driver_test;

namespace {

struct Outcome {
  bool correct = false;
  std::string error;
  double seconds = 0;
};

std::vector<double> product(gdr::Device& device) {
  constexpr std::size_t m = 700, n = 9, k = 260;
  const auto a = library_test::rough_values(m * k, 5), b = library_test::rough_values(k * n, 6);
  std::vector<double> c = library_test::rough_values(m * n, 7);
  gdr::MatrixProduct matrices(device);
  matrices.compute(m, n, k, 1.5, {a.data(), m}, {b.data(), k}, -0.5, {c.data(), m});
  return c;
}

/// Factors and pivots.
std::vector<double> factors(gdr::Device& device) {
  constexpr std::size_t n = 330;
  std::vector<double> a = library_test::rough_values(n * n, 8);
  std::vector<std::int64_t> pivots(n);
  gdr::LinearOptions options;
  options.block = 64;
  options.device_flops = 0;
  gdr::LinearSolver(device, options).lu(n, n, {a.data(), n}, pivots);
  a.insert(a.end(), pivots.begin(), pivots.end());
  return a;
}

/// A computation on a device, and its result without faults.
struct Task {
  std::vector<double> (*run)(gdr::Device&);
  std::vector<double> wanted = {};
};

/// Runs a task three times on a device.
Outcome run_jobs(const std::string& device_name, const Task& task) {
  const gdr::Stopwatch stopwatch;
  Outcome outcome;
  try {
    gdr::Device device = gdr::Device::open(device_name);
    outcome.correct = true;
    for (int k = 0; k < 3; ++k) outcome.correct &= task.run(device) == task.wanted;
  } catch (const gdr::Error& e) {
    outcome.error = e.what();
    outcome.correct = e.category() == gdr::ErrorCategory::Device;
  }
  outcome.seconds = stopwatch.seconds();
  return outcome;
}

}  // namespace

TEST_CASE("random faults lead to the correct result or an error within 30 seconds") {
  const auto runs = static_cast<int>(gdr::test::test_iterations(22));
  const char* const kinds[] = {"crash",          "crash-after-execution",
                               "hang",           "delay",
                               "flip-command",   "flip-payload",
                               "flip-result",    "flip-completion",
                               "lose-interrupt", "no-memory",
                               "no-area"};
  Task tasks[] = {
      {[](gdr::Device& device) { return forces(device, 1500, 40); }}, {product}, {factors}};
  gdr::Device here = gdr::Device::open("exact:" + small_machine);
  for (Task& task : tasks) task.wanted = task.run(here);
  std::mt19937 random(static_cast<std::uint32_t>(gdr::test::first_seed()));
  int errors = 0;
  for (int run = 0; run < runs; ++run) {
    const std::string kind = kinds[static_cast<std::size_t>(run) % std::size(kinds)];
    std::uint64_t value = random();
    if (kind == "delay") value %= 100;
    const unsigned list = kind == "no-area" ? 1 + random() % 4 : 1 + random() % 30;
    const std::string times = random() % 4 == 0 ? "x100" : random() % 2 == 0 ? "x2" : "";
    const std::string fault =
        kind + "@" + std::to_string(list) + ":" + std::to_string(value) + times;
    const std::size_t task = static_cast<std::size_t>(run) % std::size(tasks);
    INFO("fault " << fault << ", run " << run << ", task " << task);
    const ServerProcess server({"--boards", "2", "--threads", "1", "--inject", fault});
    const std::string test = random() % 2 == 0 ? "" : ",self_test=0";
    const Outcome outcome = run_jobs(server.device("boards=2,timeout=0.4" + test), tasks[task]);
    INFO(outcome.error << " after " << outcome.seconds << " s");
    CHECK(outcome.correct);
    CHECK(outcome.seconds < 30);
    errors += outcome.error.empty() ? 0 : 1;
  }
  // Some runs fail, but not all.
  if (runs >= 40) {
    CHECK(errors > 0);
    CHECK(errors < runs * 3 / 4);
  }
}

TEST_CASE("a corrupt transfer is repeated without an error") {
  const std::vector<double> wanted = expected_forces(1500, 40);
  for (const char* const fault :
       {"flip-result@4:12345x3", "flip-payload@3:777x2", "flip-command@2:99", "flip-completion@4:7",
        "flip-completion@3:5000x2", "lose-interrupt@1x1000", "delay@3:60x3"}) {
    INFO(fault);
    const ServerProcess server({"--inject", fault});
    gdr::Device device = gdr::Device::open(server.device("self_test=0,timeout=20"));
    for (int k = 0; k < 3; ++k) CHECK(forces(device, 1500, 40) == wanted);
    CHECK(device.statistics().failed_boards == 0);
  }
}

TEST_CASE("a permanent fault is an error, not a wrong result") {
  struct Case {
    const char* fault;
    const char* words;
    const char* timeout = "20";  // heartbeats of a board of a busy host may be late, too
  };
  for (const auto& [fault, words, timeout] :
       {Case{"flip-result@3:12345x100000", "results remain corrupt"},
        Case{"flip-payload@3:777x100000", "transfers remain corrupt"},
        Case{"hang@3", "no heartbeat", "0.5"}, Case{"crash@3", "its server ended"},
        Case{"crash-after-execution@3", "its server ended"},
        Case{"no-memory@3", "out of memory"}}) {
    INFO(fault);
    const ServerProcess server({"--inject", fault});
    gdr::Device device =
        gdr::Device::open(server.device(std::string("self_test=0,timeout=") + timeout));
    std::string error;
    const std::vector<double> wanted = expected_forces(1500, 40);
    for (int k = 0; k < 4 && error.empty(); ++k) {
      std::vector<double> results = wanted;
      error = error_of([&] { results = forces(device, 1500, 40); });
      CHECK(results == wanted);
      if (error == "no error") error.clear();
    }
    INFO(error);
    CHECK(contains(error, "no board is left"));
    CHECK(contains(error, words));
  }
}

TEST_CASE("a board that computes wrong results fails the self-test") {
  // Of the lists of a test these return words: of the memories, of those in the chips (4, 5, 7 and
  // 8), of sums, of sums by the network, of the product.
  const std::pair<const char*, const char*> faults[] = {
      {"wrong-result@2:4000", "memory of chip 0: word 62 holds"},
      {"wrong-result@4:3850", "failed its test: registers of PE"},
      {"wrong-result@10:4000", "failed its test: arithmetic"},
      {"wrong-result@11:4000", "failed its test: reduction network"},
      {"wrong-result@15:19250", "failed its test: product of the identity"}};
  for (const auto& [fault, words] : faults) {
    const ServerProcess server({"--inject", fault});
    const std::string error = error_of([&] { gdr::Device::open(server.device()); });
    INFO(fault << ": " << error);
    CHECK(contains(error, words));
    gdr::Device untested = gdr::Device::open(server.device("self_test=0"));
    if (std::string(fault) != "wrong-result@2:4000") continue;
    CHECK(contains(error_of([&] { untested.test(); }), "memory of chip 0"));
    CHECK(untested.statistics().failed_boards == 1);
    CHECK(contains(error_of([&] { forces(untested, 9, 9); }), "no board is left"));
  }
}

TEST_CASE("a delay shorter than the timeout does not fail the board") {
  const ServerProcess server({"--inject", "delay@6:700"});
  gdr::Device device = gdr::Device::open(server.device("timeout=20,self_test=0"));
  CHECK(forces(device, 1500, 40) == expected_forces(1500, 40));
  CHECK(forces(device, 1500, 40) == expected_forces(1500, 40));
}

TEST_CASE("failed memory allocation of a server is an error at opening") {
  const ServerProcess server({"--inject", "no-area@1x100"});
  const std::string error = error_of([&] { gdr::Device::open(server.device()); });
  INFO(error);
  CHECK(contains(error, "the server allocates no transfer memory"));
  CHECK(contains(error, "No space left on device"));
  const ServerProcess small({"--memory", "1"});
  CHECK(contains(error_of([&] { gdr::Device::open(small.device()); }), "exceed the limit"));
}

TEST_CASE("lists larger than the transfer memory are divided") {
  const ServerProcess server({"--memory", "6"});
  gdr::Device device = gdr::Device::open(server.device());
  CHECK(forces(device, 300000, 3) == expected_forces(300000, 3));
  CHECK(forces(device, 10, 400000) == expected_forces(10, 400000));
}
