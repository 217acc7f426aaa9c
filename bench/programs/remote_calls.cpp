// Time of a small call, gravity and its derivative of two sources on two targets, on devices in
// turn.
//
// usage: bench_remote_calls CALLS DEVICE...    (for example native board:unix:/tmp/boards.socket)
//
// Prints for each device the least, the lower quartile and the median time of a call with new
// targets, in microseconds. Devices alternate after 100 calls, so that other processes disturb all.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emulator/host/parse_number.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"

namespace {

constexpr unsigned turn = 100;

/// A device with its job, and the seconds of its calls.
class Calls {
 public:
  explicit Calls(const std::string& name)
      : name_(name),
        device_(gdr::Device::open(name)),
        job_(device_.job(gdr::Kernel::builtin("gravity_jerk"))) {
    job_.set("eps2", 1e-4);
    job_.sources(2, {{"xj", x_},
                     {"yj", x_ + 1},
                     {"zj", x_ + 2},
                     {"mj", x_ + 3},
                     {"vxj", x_},
                     {"vyj", x_ + 1},
                     {"vzj", x_ + 2},
                     {"idj", ids_}});
  }

  void run(bool counts) {
    for (unsigned k = 0; k < turn; ++k) {
      x_[0] += 1e-3;
      const gdr::Stopwatch time;
      job_.targets(2, {{"xi", x_},
                       {"yi", x_ + 1},
                       {"zi", x_ + 2},
                       {"vxi", x_},
                       {"vyi", x_ + 1},
                       {"vzi", x_ + 2},
                       {"idi", ids_ + 2}});
      job_.run({{"ax", results_[0]},
                {"ay", results_[1]},
                {"az", results_[2]},
                {"jx", results_[3]},
                {"jy", results_[4]},
                {"jz", results_[5]},
                {"pot", results_[6]}});
      if (counts) seconds_.push_back(time.seconds());
    }
  }

  void report() {
    std::ranges::sort(seconds_);
    fmt::print("{:<60} {:>8.1f} {:>8.1f} {:>8.1f}\n", name_, 1e6 * seconds_[0],
               1e6 * seconds_[seconds_.size() / 4], 1e6 * seconds_[seconds_.size() / 2]);
  }

 private:
  std::string name_;
  double x_[8] = {0.1, 0.7, 0.3, 0.9, 0.2, 0.5, 0.8, 0.4};
  std::int64_t ids_[4] = {1, 2, 3, 4};
  std::vector<std::vector<double>> results_ = std::vector<std::vector<double>>(7, {0, 0});
  gdr::Device device_;
  gdr::Job job_;
  std::vector<double> seconds_;
};

int run(int argc, char** argv) {
  const auto calls = gdr::parse_all<unsigned>(argv[1]).value_or(0);
  if (calls < turn) throw gdr::Error(gdr::ErrorCategory::Usage, "CALLS must be at least 100");
  std::vector<Calls> devices;
  devices.reserve(static_cast<std::size_t>(argc));
  for (int k = 2; k < argc; ++k) devices.emplace_back(argv[k]);
  for (Calls& device : devices) device.run(false);
  for (unsigned done = 0; done < calls; done += turn)
    for (Calls& device : devices) device.run(true);
  fmt::print("{:<60} {:>8} {:>8} {:>8}\n", "microseconds of a call", "least", "quartile", "median");
  for (Calls& device : devices) device.report();
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
