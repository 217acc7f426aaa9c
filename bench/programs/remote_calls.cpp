// Time of a small call, gravity and its derivative of two sources on two targets, on devices in
// turn.
//
// usage: bench_remote_calls CALLS DEVICE...    (for example native board:unix:/tmp/boards.socket)
//
// Prints for each device the least, the lower quartile and the median time of a call with new
// targets, in microseconds, and its median relative to that of a message each way between two
// processes, of the size of such a call, over TCP on this host: what is left to gain. Devices
// alternate after 100 calls, so that other processes disturb all.
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/gravity_calls.hpp"
#include "emulator/host/parse_number.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/device.hpp"
#include "gdr/error.hpp"

namespace {

constexpr unsigned turn = 100;
/// Bytes of a call over `board:tcp` and of its reply, with their headers.
constexpr std::size_t request_bytes = 680, reply_bytes = 312;

/// Least, quartile and median of times in seconds.
struct Times {
  explicit Times(std::vector<double> seconds) {
    std::ranges::sort(seconds);
    least = seconds[0];
    quartile = seconds[seconds.size() / 4];
    median = seconds[seconds.size() / 2];
  }
  double least = 0, quartile = 0, median = 0;
};

void print_times(const std::string& name, const Times& t, double floor) {
  fmt::print("{:<50} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.2f}\n", name, 1e6 * t.least, 1e6 * t.quartile,
             1e6 * t.median, t.median / floor);
}

/// Two processes that send each other messages over TCP, without anything else.
class PingPong {
 public:
  PingPong() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    check(listener >= 0 && bind(listener, place, size) == 0 && listen(listener, 1) == 0 &&
          getsockname(listener, place, &size) == 0);
    child_ = fork();
    check(child_ >= 0);
    if (child_ == 0) {
      socket_ = accept(listener, nullptr, nullptr);
      send_at_once();
      while (receive(request_bytes)) send_bytes(reply_bytes);
      _exit(0);
    }
    socket_ = socket(AF_INET, SOCK_STREAM, 0);
    check(socket_ >= 0 && connect(socket_, place, size) == 0);
    send_at_once();
    close(listener);
  }
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;
  ~PingPong() {
    close(socket_);
    waitpid(child_, nullptr, 0);
  }

  void run(bool counts) {
    for (unsigned k = 0; k < turn; ++k) {
      const gdr::Stopwatch time;
      send_bytes(request_bytes);
      check(receive(reply_bytes));
      if (counts) seconds_.push_back(time.seconds());
    }
  }
  Times times() const { return Times(seconds_); }

 private:
  static void check(bool good) {
    if (!good) throw gdr::Error(gdr::ErrorCategory::Io, "two processes cannot talk over TCP");
  }
  void send_at_once() const {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  void send_bytes(std::size_t bytes) {
    check(send(socket_, bytes_.data(), bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes));
  }
  bool receive(std::size_t bytes) {
    return recv(socket_, bytes_.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  }

  int socket_ = -1;
  pid_t child_ = -1;
  std::vector<char> bytes_ = std::vector<char>(std::max(request_bytes, reply_bytes));
  std::vector<double> seconds_;
};

/// A device with its job, and the seconds of its calls.
class Calls {
 public:
  explicit Calls(const std::string& name)
      : name_(name),
        calls_(std::make_shared<gdr::Device>(gdr::Device::open(name)), "gravity_jerk", 2, 2,
               {x_.get(), x_.get() + 1, x_.get() + 2, x_.get(), x_.get() + 1, x_.get() + 2,
                x_.get() + 3, ids, ids + 2}) {}

  void run(bool counts) {
    for (unsigned k = 0; k < turn; ++k) {
      x_[0] += 1e-3;
      const gdr::Stopwatch time;
      calls_.call();
      if (counts) seconds_.push_back(time.seconds());
    }
  }

  void report(double floor) const { print_times(name_, Times(seconds_), floor); }

 private:
  static constexpr std::int64_t ids[] = {1, 2, 3, 4};
  std::string name_;
  std::unique_ptr<double[]> x_{new double[]{0.1, 0.7, 0.3, 0.9, 0.2, 0.5, 0.8, 0.4}};
  gdr::bench::GravityCalls calls_;
  std::vector<double> seconds_;
};

int run(int argc, char** argv) {
  const auto calls = gdr::parse_all<unsigned>(argv[1]).value_or(0);
  if (calls < turn) throw gdr::Error(gdr::ErrorCategory::Usage, "CALLS must be at least 100");
  PingPong plain;  // before threads start
  std::vector<Calls> devices;
  devices.reserve(static_cast<std::size_t>(argc));
  for (int k = 2; k < argc; ++k) devices.emplace_back(argv[k]);
  plain.run(false);
  for (Calls& device : devices) device.run(false);
  for (unsigned done = 0; done < calls; done += turn) {
    plain.run(true);
    for (Calls& device : devices) device.run(true);
  }
  const double floor = plain.times().median;
  fmt::print("{:<50} {:>8} {:>8} {:>8} {:>8}\n", "microseconds of a call", "least", "quartile",
             "median", "relative");
  print_times("TCP alone", plain.times(), floor);
  for (const Calls& device : devices) device.report(floor);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_remote_calls CALLS DEVICE...\n");
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const gdr::Error& e) {
    fmt::print(stderr, "bench_remote_calls: {}\n", e.what());
    return 1;
  }
}
