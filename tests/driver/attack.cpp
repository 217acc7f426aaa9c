// The board server among clients that are hostile, silent, or too many, and clients of a server
// that does not answer.
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
#include "libgdr/driver/wire.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Connects without waiting; no file where the server's queue of connections is full.
driver::File connect_at_once(const std::string& path) {
  driver::File socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return {};
  return socket;
}

/// Seconds of CPU time that a process has had.
double cpu_seconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  double ticks = 0;
  for (int k = 1; k <= 15 && file >> word; ++k)
    if (k >= 14) ticks += std::stod(word);
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Of files that this process may have open, as long as it lives.
class FewFiles {
 public:
  explicit FewFiles(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{most, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// A signal every few milliseconds, as profilers send them, that restarts no system call.
class Storm {
 public:
  Storm() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before_);
    const itimerval often{{0, 5000}, {0, 5000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;
  ~Storm() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

}  // namespace

TEST_CASE("hundreds of clients that say nothing keep nobody out") {
  const ServerProcess server;
  std::vector<driver::File> silent;
  for (int k = 0; k < 400; ++k) silent.push_back(driver::connect_to(server.socket()));
  Device device = Device::open(server.device("queue_timeout=1"));
  CHECK(forces(device, 20, 20) == expected_forces(20, 20));
  const std::string log = server.log();
  CHECK(says(log, "said nothing, and others came"));
  CHECK(std::ranges::count(log, '\n') < 100);  // of 145 that had to go, 60 are told
}

TEST_CASE("a server that may open few files serves some clients, and does not spin") {
  std::unique_ptr<ServerProcess> server;
  {
    const FewFiles few(40);
    server = std::make_unique<ServerProcess>();
  }
  std::vector<driver::File> silent;
  for (int k = 0; k < 40; ++k) silent.push_back(driver::connect_to(server->socket()));
  Device device = Device::open(server->device("queue_timeout=1"));
  CHECK(forces(device, 20, 20) == expected_forces(20, 20));
  const double before = cpu_seconds(server->process());
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK(cpu_seconds(server->process()) - before < 0.1);
}

TEST_CASE("what a client says becomes no line of the log") {
  const ServerProcess server;
  const driver::File socket = driver::connect_to(server.socket());
  driver::send_message(socket, driver::make_message(driver::MessageKind::Hello, 0,
                                                    "x\ngdr_serve:_\x1b[2Jall_well -"));
  std::vector<driver::File> files;
  const auto answer = driver::receive_message(socket, files);
  REQUIRE(answer);
  CHECK(answer->kind == driver::MessageKind::Refused);
  CHECK(says(server.log(), "'x?gdr_serve:_?[2Jall_well'"));
}

TEST_CASE("the mode of a socket does not depend on the umask, and long paths are refused") {
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
    struct stat there {};
    REQUIRE(stat(server->socket().c_str(), &there) == 0);
    CHECK((there.st_mode & 0777) == 0620);
  }
  const std::string path = "/tmp/" + std::string(150, 'x');
  CHECK_THROWS_AS(ServerProcess({}, path), std::runtime_error);
  CHECK(says(error_of([&] { Device::open("board:unix:" + path); }), "from 1 to 107 characters"));
}

TEST_CASE("a server that is stopped is an error in time, whatever signals come") {
  const ServerProcess server;
  server.signal(SIGSTOP);
  const Storm storm;
  const auto open = [&] {
    return error_of([&] { Device::open(server.device("queue_timeout=0.1")); });
  };
  const auto begin = std::chrono::steady_clock::now();
  auto heard = std::async(std::launch::async, open);  // connected, and never answered
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::vector<driver::File> others;
  while (driver::File socket = connect_at_once(server.socket()))
    others.push_back(std::move(socket));
  CHECK(others.size() > 10);
  CHECK(says(open(), "look whether it is stopped"));  // its queue of connections is full
  CHECK(says(heard.get(), "did not answer"));
  CHECK(seconds_since(begin) < 25);
}
