// Programs that fork: a device belongs to the process that opened it, and a child opens its own.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "driver/server_process.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace driver_test;

namespace {

/// Runs a function in a forked child. Returns its text, or the signal that ended the child.
std::string in_child(const std::function<std::string()>& work) {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    const std::string text = work();
    [[maybe_unused]] const ssize_t n = write(pipe_ends[1], text.data(), text.size());
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string answer(1000, ' ');
  const ssize_t n = read(pipe_ends[0], answer.data(), answer.size());
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  answer.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return answer;
}

}  // namespace

TEST_CASE("a forked child that uses or closes its parent's device does not affect the parent") {
  const std::vector<double> wanted = expected_forces(1500, 40);
  std::vector<std::string> options;
#ifdef GDR_TEST_NETWORK
  options = {"--listen", "127.0.0.1:0", "--insecure"};
#endif
  const ServerProcess server(options);
  std::vector<std::string> names = {"exact:threads=2," + small_machine,
                                    "exact:threads=2,queues=2," + small_machine, server.device()};
  if (!options.empty()) {
    const std::string& text = server.greeting();
    const std::string port =
        text.substr(text.rfind(':') + 1, text.find('\n') - text.rfind(':') - 1);
    names.push_back("board:tcp:127.0.0.1:" + port + ",insecure=1");
  }
  for (const std::string& name : names) {
    INFO(name);
    auto device = std::make_unique<gdr::Device>(gdr::Device::open(name));
    gdr::Job job = device->job(gdr::Kernel::builtin("gravity"));
    CHECK(forces(*device, 1500, 40) == wanted);
    CHECK(contains(in_child([&] { return error_of([&] { forces(*device, 1500, 40); }); }),
                   "opened before this process was forked"));
    CHECK(contains(in_child([&] { return error_of([&] { job.wait(); }); }), "forked"));
    // A factorisation starts on the host, before its first request to the device.
    CHECK(contains(in_child([&] {
                     std::vector<double> a(200 * 200, 1.0);
                     std::vector<std::int64_t> pivots(200);
                     return error_of([&] {
                       gdr::LinearSolver(*device).lu(200, 200, {a.data(), 200}, pivots);
                     });
                   }),
                   "forked"));
    CHECK(in_child([&] {
            device->interrupt();
            device.reset();
            return "closed";
          }) == "closed");
    CHECK(forces(*device, 1500, 40) == wanted);
    CHECK(device->statistics().failed_boards == 0);
  }
}

TEST_CASE("a forked child opens and uses its own device") {
  const std::vector<double> wanted = expected_forces(1500, 400);
  const ServerProcess server({"--boards", "2"});
  for (const std::string& name : {"exact:threads=4," + small_machine, server.device()}) {
    INFO(name);
    gdr::Device device = gdr::Device::open(name);
    CHECK(forces(device, 1500, 400) == wanted);
    CHECK(in_child([&] {
            gdr::Device own = gdr::Device::open(name);
            return std::string(forces(own, 1500, 400) == wanted ? "right" : "wrong");
          }) == "right");
#if !GDR_THREAD_SANITIZER  // does not support threads in a forked child
    CHECK(in_child([&] {
            std::string result = "wrong";
            std::thread([&] {
              gdr::Device own = gdr::Device::open(name);
              if (forces(own, 1500, 400) == wanted) result = "right";
            }).join();
            return result;
          }) == "right");
#endif
    CHECK(forces(device, 1500, 400) == wanted);
  }
}

TEST_CASE("a board is released when its owner is killed, even if a forked child survives") {
  const ServerProcess server;
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const gdr::Device device = gdr::Device::open(server.device());
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      for (;;) pause();
    }
    [[maybe_unused]] const ssize_t n = write(pipe_ends[1], &child, sizeof(child));
    for (;;) pause();
  }
  pid_t child = 0;
  REQUIRE(read(pipe_ends[0], &child, sizeof(child)) == sizeof(child));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  CHECK(error_of([&] {
          gdr::Device next = gdr::Device::open(server.device("queue_timeout=20"));
          CHECK(forces(next, 50, 20) == expected_forces(50, 20));
        }) == "no error");
  kill(child, SIGKILL);
}
