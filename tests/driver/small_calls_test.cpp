// Small calls to boards of servers: what they cost is counted in threads that sleep and are woken,
// not in seconds, so that other load does not matter.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "driver/server_process.hpp"
#include "emulator/host/stopwatch.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

// Under the thread sanitizer calls take so long that threads also sleep while they wait for each
// other.
#if !GDR_THREAD_SANITIZER

using namespace driver_test;

namespace {

/// How often the threads of a process have gone to sleep.
std::uint64_t waits_of(const std::string& process) {
  std::uint64_t sum = 0;
  std::error_code ignored;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + process + "/task", ignored)) {
    std::ifstream status(thread.path() / "status");
    const std::string name = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(name)) sum += std::stoull(line.substr(name.size()));
  }
  return sum;
}

}  // namespace

TEST_CASE("a small call to a board of another host wakes one thread at each host") {
  const ServerProcess server({"--listen", "127.0.0.1:0", "--insecure", "--threads", "1"});
  const std::string& text = server.greeting();
  const std::string port = text.substr(text.rfind(':') + 1, text.find('\n') - text.rfind(':') - 1);
  gdr::Device device =
      gdr::Device::open("board:tcp:127.0.0.1:" + port + ",insecure=1,self_test=0,threads=1");
  // The process for other hosts starts with the server, the board's with its owner.
  const std::vector<std::string> processes = server.children();
  REQUIRE(processes.size() == 2);
  const double xi[2] = {0.25, -1}, xj[2] = {1, 3}, mj[2] = {2, 0.5};
  double force[2], mass[2];
  gdr::Job job = device.job(library_test::spring());
  job.set("k", 2);
  job.sources(2, {{"xj", xj}, {"mj", mj}});
  constexpr unsigned batch = 20;
  /// A batch whose calls take longer is delayed by other processes: its threads have slept for
  /// them.
  constexpr double longest_call = 0.5e-3;
  double client = 1e9, front = 1e9;
  unsigned wrong = 0, compared = 0;
  for (unsigned k = 0; k < 60; ++k) {
    const std::uint64_t client_before = waits_of("self"), front_before = waits_of(processes[0]);
    const gdr::Stopwatch timer;
    for (unsigned n = 0; n < batch; ++n) {
      job.targets(2, {{"xi", xi}});
      job.run({{"force", force}, {"mass", mass}});
      if (force[0] != 5.75 || force[1] != 12 || mass[0] != 2.5 || mass[1] != 2.5) ++wrong;
    }
    if (timer.seconds() > longest_call * batch) continue;
    ++compared;
    client = std::min(client, static_cast<double>(waits_of("self") - client_before) / batch);
    front = std::min(front, static_cast<double>(waits_of(processes[0]) - front_before) / batch);
  }
  CHECK(wrong == 0);
  if (compared == 0) {
    WARN("not compared: other processes delayed all calls");
    return;
  }
  // One wait each, for the message. Before, the client's two threads slept three times a call, and
  // the server's four times.
  CHECK(client < 1.5);
  CHECK(front < 1.5);
}

#endif
