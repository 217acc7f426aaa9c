// Sums on the engine gpu-exact have the bits of the machine where its short forms of sums end: at
// ties, where terms cancel, and where sums cross powers of two. Without an OpenCL device this is
// skipped.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/laws/laws.hpp"
#include "emulator/host/gpu/device.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

using namespace gdr;
using gdr::test::test_iterations;

namespace {

using Random = std::mt19937_64;

struct Distribution {
  const char* name;
  /// A position and a weight of a source; number n of a sum.
  std::function<void(Random&, std::size_t n, double& y, double& m)> draw;
};

int integer(Random& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}
double sign(Random& random) { return integer(random, 0, 1) == 0 ? 1 : -1; }
/// A number of `bits` random bits in [1, 2).
double significand(Random& random, int bits) {
  const auto all = static_cast<double>(random() >> (64 - bits));
  return 1 + std::ldexp(all, -bits);
}

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> all{
      {"differences half-way between two shorts, or beside it",
       [](Random& r, std::size_t, double& y, double& m) {
         const double tie = 1 + std::ldexp(integer(r, 0, 1 << 20) * 2 + 1, -25);
         const double beside = integer(r, 0, 2) * std::ldexp(sign(r), integer(r, -52, -26));
         y = sign(r) * std::ldexp(tie + beside, integer(r, -3, 3));
         m = sign(r);
       }},
      {"terms of sizes from 2^-90 to 2^60 that cancel",
       [](Random& r, std::size_t n, double& y, double& m) {
         static thread_local double last = 0;
         y = -1;
         m = n % 3 == 2 ? -last : sign(r) * std::ldexp(significand(r, 24), integer(r, -90, 60));
         last = m;
       }},
      {"sums beside powers of two",
       [](Random& r, std::size_t n, double& y, double& m) {
         y = -1;
         m = n % 50 == 0 ? std::ldexp(sign(r), integer(r, 0, 3))
                         : sign(r) * std::ldexp(integer(r, 0, 3), integer(r, -62, -18));
       }},
      {"terms that end half-way between two longs",
       [](Random& r, std::size_t n, double& y, double& m) {
         y = -1;
         const double odd = integer(r, 0, 1 << 22) * 2 + 1;
         m = n == 0 ? 1.5 + std::ldexp(1, -20) : sign(r) * std::ldexp(odd, integer(r, -63, -58));
       }},
      {"terms of one size and sign, with zeros",
       [](Random& r, std::size_t, double& y, double& m) {
         y = -significand(r, 52);
         m = integer(r, 0, 4) == 0 ? 0.0 : significand(r, 24);
       }},
      {"terms that alternate between large and small",
       [](Random& r, std::size_t n, double& y, double& m) {
         y = -significand(r, 24);
         m = sign(r) * std::ldexp(significand(r, 24), n % 2 == 0 ? integer(r, 10, 40) : -40);
       }},
  };
  return all;
}

using Sums = std::vector<std::vector<double>>;
Sums sums(Device& device, const Kernel& kernel, const std::vector<double>& x,
          const std::vector<double>& y, const std::vector<double>& m) {
  Job job = device.job(kernel);
  job.sources(y.size(), {{"y", ConstArray(y)}, {"m", ConstArray(m)}});
  job.targets(x.size(), {{"x", ConstArray(x)}});
  Sums made(2, std::vector<double>(x.size()));
  job.run({{"f", MutableArray(made[0])}, {"g", MutableArray(made[1])}});
  return made;
}

}  // namespace

TEST_CASE("sums on gpu-exact have the machine's bits at ties, cancellation and powers of two") {
  setenv("GDR_GPU_PAIRS", "0", 1);
  if (gpu::devices().empty()) {
    WARN("no GPU: " << gpu::why_no_device());
    return;
  }
  const Kernel kernel = Kernel::compile(
      "VARI x; VARJ y; VARJ m; VARF f, g; f += m*(x - y); g -= m*(x - y)*(x - y);", "law");
  Device exact = Device::open("emulator:engine=vector"),
         gpu = Device::open("emulator:engine=gpu-exact");
  Random random(20);
  const std::vector<double> x{0, 0x1p-60, -0x1p-53, 0x1p-30, 1, -1, 0x1.000001p0, 0x1.8p5};
  const std::uint64_t rounds = test_iterations(3);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const Distribution& d : distributions()) {
      for (const std::size_t n : {std::size_t{17}, std::size_t{600}}) {
        std::vector<double> y(n), m(n);
        for (std::size_t j = 0; j < n; ++j) d.draw(random, j, y[j], m[j]);
        INFO(d.name << ", " << n << " sources, round " << round);
        const Sums right = sums(exact, kernel, x, y, m);
        CHECK(sums(gpu, kernel, x, y, m) == right);
        // A result is a double. Without its leading bits, that of x = 0 has the last ones of the
        // long.
        y.push_back(-1);
        m.push_back(-static_cast<double>(static_cast<float>(right[0][0])));
        CHECK(sums(gpu, kernel, x, y, m) == sums(exact, kernel, x, y, m));
      }
    }
  }
  CHECK(gpu.statistics().gpu_runs > 0);
}
