// Calls that fail on one rank: every rank prints the error thrown, as `rank R: CATEGORY MESSAGE`.
#include <cstdio>
#include <functional>
#include <limits>

#include "gdr/gdr.hpp"

namespace {

void report(const gdr::Device& device, const std::function<void()>& call) {
  try {
    call();
    std::printf("%u: nothing\n", device.rank());
  } catch (const gdr::Error& e) {
    std::printf("%u: %d %s\n", device.rank(), static_cast<int>(e.category()), e.what());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int, char** argv) {
  gdr::Device device = gdr::Device::open(argv[1]);
  const bool bad = device.rank() == 1;
  std::vector<double> x(30, 0.5), m(10, 1), a(30), pot(10);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k * 7 % 31) + device.rank();
  gdr::Gravity gravity(device);
  report(device, [&] {
    std::vector<double> y = x;
    if (bad) y[3 * 7 + 2] = std::numeric_limits<double>::quiet_NaN();
    gravity.compute(10, y.data(), m.data(), 0.1, a.data(), pot.data());
  });
  report(device,
         [&] { gravity.compute(10, x.data(), m.data(), bad ? -1 : 0.1, a.data(), nullptr); });
  gdr::Job job = device.job(gdr::Kernel::builtin("gravity"));
  report(device, [&] { job.set(bad ? "eps3" : "eps2", 0.1); });
  job.set("eps2", bad ? 0.5 : 0.25);
  report(device, [&] { job.run({}); });
  job.set("eps2", 0.25);
  report(device, [&] { job.run({{bad ? "nothing" : "ax", a}}); });
  gdr::Job other = device.job(gdr::Kernel::builtin(bad ? "coulomb" : "gravity"));
  report(device, [&] { other.run({}); });
  // The next call succeeds.
  report(device, [&] { gravity.compute(10, x.data(), m.data(), 0.1, a.data(), pot.data()); });
  return 0;
}
