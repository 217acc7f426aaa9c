// The cost of the driver: the round trip of an empty command list, and gravity on a board of a
// server compared with the emulator in this process, in alternation. Starts `gdr serve` (argument:
// the path of the command) itself.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/timing.hpp"
#include "emulator/board/hardware/checksum.hpp"
#include "gdr/gdr.hpp"
#include "libgdr/driver/remote_board.hpp"

namespace {

using namespace gdr;
using bench::median;
using bench::seconds_of;

void round_trips(const std::string& socket) {
  const auto board = std::make_unique<driver::RemoteBoard>(driver::open_server_board(socket, {}));
  const CommandList empty;
  std::vector<std::uint64_t> results;
  std::vector<double> times;
  for (int k = 0; k < 20000; ++k)
    times.push_back(seconds_of([&] { board->execute(empty, results); }));
  const double middle = median(times);
  fmt::print("empty command list    {:8.2f} us median, {:.2f} us best\n", middle * 1e6,
             *std::ranges::min_element(times) * 1e6);
}

void checksums() {
  std::vector<std::uint64_t> from(1 << 17, 3), to(1 << 17);
  std::vector<double> copy, both;
  for (int k = 0; k < 200; ++k) {
    copy.push_back(seconds_of([&] { std::ranges::copy(from, to.begin()); }));
    both.push_back(seconds_of([&] { copy_and_sum(from.data(), to.data(), from.size()); }));
  }
  const double bytes = static_cast<double>(from.size() * sizeof(from[0]));
  fmt::print("copy of a megabyte    {:8.2f} GB/s, with its checksum {:.2f} GB/s (medians)\n",
             bytes / median(copy) * 1e-9, bytes / median(both) * 1e-9);
}

void gravity(const std::string& socket, std::size_t n, int turns) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> position(3 * n), mass(n, 1.0 / static_cast<double>(n));
  std::vector<double> acceleration(3 * n), potential(n);
  for (double& x : position) x = normal(random);
  DeviceOptions options;
  options.engine = "native";
  Device devices[] = {Device::open("emulator", options),
                      Device::open("board:unix:" + socket, options)};
  Gravity forces[] = {Gravity(devices[0]), Gravity(devices[1])};
  std::vector<double> times[2];
  for (int turn = 0; turn <= turns; ++turn)
    for (int d = 0; d < 2; ++d) {
      // Idle threads of the other device spin for a while, on a core that is needed here.
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      const double t = seconds_of([&] {
        forces[d].compute(n, position.data(), mass.data(), 0.01, acceleration.data(),
                          potential.data());
      });
      if (turn > 0) times[d].push_back(t);  // the first one compiles
    }
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  double rates[2];
  for (int d = 0; d < 2; ++d) rates[d] = pairs / *std::ranges::min_element(times[d]);
  fmt::print(
      "gravity, N = {}, native engine: {:.3g} pairs/s in this process, {:.3g} on a board of a "
      "server; ratio {:.3f} (medians {:.3f})\n",
      n, rates[0], rates[1], rates[1] / rates[0], median(times[0]) / median(times[1]));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench_driver GDR, the path of the command gdr\n");
    return 2;
  }
  const std::string command = argv[1];
  const std::string socket = "/tmp/gdr-bench-" + std::to_string(getpid()) + ".socket";
  const pid_t server = fork();
  if (server == 0) {
    execlp(command.c_str(), command.c_str(), "serve", "--socket", socket.c_str(), "--engine",
           "native", "--log", "/dev/null", nullptr);
    _exit(127);
  }
  for (int k = 0; k < 200 && access(socket.c_str(), F_OK) != 0; ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  int status = 0;
  try {
    checksums();
    round_trips(socket);
    gravity(socket, 16384, 15);
  } catch (const gdr::Error& e) {
    fmt::print("{}\n", e.what());
    status = 1;
  }
  kill(server, SIGTERM);
  waitpid(server, nullptr, 0);
  return status;
}
