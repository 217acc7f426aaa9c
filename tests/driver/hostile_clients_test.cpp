// A board server with hostile, idle or too many clients, and clients of a server that does not
// answer.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "driver/server_process.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/driver/wire.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

/// Connects without waiting; an empty file if the server's connection queue is full.
driver::File connect_nonblocking(const std::string& path) {
  driver::File socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return {};
  return socket;
}

/// CPU time of a process, in seconds.
double cpu_seconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  double ticks = 0;
  for (int k = 1; k <= 15 && file >> word; ++k)
    if (k >= 14) ticks += std::stod(word);
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Limits the number of open files of this process during the lifetime of the object.
class FileLimit {
 public:
  explicit FileLimit(rlim_t max) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{max, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// A signal every five milliseconds, as sent by profilers, that interrupts system calls.
class SignalTimer {
 public:
  SignalTimer() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before_);
    const itimerval often{{0, 5000}, {0, 5000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  SignalTimer(const SignalTimer&) = delete;
  SignalTimer& operator=(const SignalTimer&) = delete;
  ~SignalTimer() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

}  // namespace

TEST_CASE("hundreds of idle clients do not block others") {
  const ServerProcess server;
  std::vector<driver::File> idle;
  for (int k = 0; k < 400; ++k) idle.push_back(driver::connect_to(server.socket()));
  Device device = Device::open(server.device("queue_timeout=60"));
  CHECK(forces(device, 20, 20) == expected_forces(20, 20));
  const std::string log = server.log();
  CHECK(contains(log, "it sent no message, and its place was needed"));
  CHECK(std::ranges::count(log, '\n') < 100);  // 60 of 145 disconnections are logged
}

TEST_CASE("a server with a low limit of open files serves clients without busy waiting") {
  std::unique_ptr<ServerProcess> server;
  {
    const FileLimit limit(40);
    server = std::make_unique<ServerProcess>();
  }
  std::vector<driver::File> idle;
  for (int k = 0; k < 40; ++k) idle.push_back(driver::connect_to(server->socket()));
  Device device = Device::open(server->device("queue_timeout=60"));
  CHECK(forces(device, 20, 20) == expected_forces(20, 20));
  const double before = cpu_seconds(server->process());
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK(cpu_seconds(server->process()) - before < 0.1);
}

TEST_CASE("control characters in a client's message are replaced in the log") {
  const ServerProcess server;
  const driver::File socket = driver::connect_to(server.socket());
  driver::send_message(socket, driver::make_message(driver::MessageKind::Hello, 0,
                                                    "x\ngdr_serve:_\x1b[2Jall_well -"));
  std::vector<driver::File> files;
  const auto answer = driver::receive_message(socket, files);
  REQUIRE(answer);
  CHECK(answer->kind == driver::MessageKind::Refused);
  CHECK(contains(server.log(), "'x?gdr_serve:_?[2Jall_well'"));
}

TEST_CASE("the mode of a socket does not depend on the umask, and long paths are rejected") {
  for (const mode_t mask : {mode_t{0}, mode_t{0777}}) {
    const mode_t before = umask(mask);
    const auto server = [&] {
      try {
        return std::make_unique<ServerProcess>(std::vector<std::string>{"--mode", "0620"});
      } catch (...) {
        umask(before);
        throw;
      }
    }();
    umask(before);
    struct stat status {};
    REQUIRE(stat(server->socket().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0620);
  }
  const std::string path = "/tmp/" + std::string(150, 'x');
  CHECK_THROWS_AS(ServerProcess({}, path), std::runtime_error);
  CHECK(
      contains(error_of([&] { Device::open("board:unix:" + path); }), "from 1 to 107 characters"));
}

TEST_CASE("a stopped server is reported as an error within the timeout, also under signals") {
  const ServerProcess server;
  server.signal(SIGSTOP);
  const SignalTimer signals;
  const auto open = [&] {
    return error_of([&] { Device::open(server.device("queue_timeout=0.1")); });
  };
  const Stopwatch stopwatch;
  auto connected = std::async(std::launch::async, open);  // connected, but not answered
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::vector<driver::File> others;
  while (driver::File socket = connect_nonblocking(server.socket()))
    others.push_back(std::move(socket));
  CHECK(others.size() > 10);
  CHECK(contains(open(), "check whether its process is stopped"));  // the connection queue is full
  CHECK(contains(connected.get(), "did not answer"));
  CHECK(stopwatch.seconds() < 25);
}
