// Reciprocals and roots of infinite numbers on the native engines: those of IEEE 754.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/host/isa.hpp"
#include "gdr/device.hpp"
#include "support/catch.hpp"
#include "support/gpu.hpp"

namespace gdr::test {
namespace {

/// A law of a * x, which is 1, and then infinite, and its values for m = 3.
struct Law {
  std::string text;
  double at_one, at_infinity;
};
const Law laws[] = {{"m/(a*x)", 3, 0},
                    {"-m*recip(a*x)", -3, 0},
                    {"m*rsqrt(a*x)", 3, 0},
                    {"m*sqrt(a*x)", 3, INFINITY},
                    {"-m*sqrt(a*x)", -3, -INFINITY},
                    {"m + 1/(a*x)", 4, 3},
                    {"m - rsqrt(a*x)", 2, 3},
                    {"m*recip(-a*x)", -3, 0},
                    {"m/(1 + sqrt(a*x))", 1.5, 0}};

std::vector<std::string> native_engines() {
  std::vector<std::string> all;
  for (const Isa isa : host_isas())
    for (const std::string engine : {"native", "native-float", "native-mixed"})
      all.push_back(engine + ",isa=" + std::string(isa_name(isa)));
  if (use_gpu_for_all()) all.insert(all.end(), {"gpu", "gpu-float"});
  return all;
}

}  // namespace

TEST_CASE("1/inf and 1/sqrt(inf) are zero on native engines, and sqrt(inf) is infinite") {
  for (const std::string& engine : native_engines())
    for (const std::string precision : {"", "precision long; "})
      for (const Law& law : laws) {
        INFO(engine << ": " << precision << law.text);
        Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
        Job job = device.job(
            Kernel::compile(precision + "CONST a; VARI x; VARJ m; VARF f; f += " + law.text + ";"));
        constexpr double a = 0x1p900;
        job.set("a", a);
        // More targets than a vector has, so that all ways of computing them are taken.
        std::vector<double> x(70, 1 / a), f(x.size());
        for (std::size_t k = 0; k < x.size(); k += 3) x[k] = a;
        const std::vector<double> m{3};
        job.targets(x.size(), {{"x", x.data()}});
        job.sources(1, {{"m", m.data()}});
        job.run({{"f", f.data()}});
        for (std::size_t k = 0; k < x.size(); ++k) {
          const double right = k % 3 == 0 ? law.at_infinity : law.at_one;
          if (std::isinf(right) || right == 0)
            CHECK(f[k] == right);
          else
            CHECK(std::abs(f[k] - right) < 1e-5);
        }
      }
}

TEST_CASE("a run with lists has the values of infinite numbers at once") {
  const std::string text =
      "VARI x; VARJ m; VARJ int id; VARF f; VARF list near[9];"
      "f += m + rsqrt(x*x); if (m > 2.5) { near append= id; }";
  for (const Isa isa : host_isas()) {
    INFO(isa_name(isa));
    Device device =
        Device::open("emulator:chips=1,threads=1,engine=native,isa=" + std::string(isa_name(isa)));
    Job job = device.job(Kernel::compile(text));
    const std::vector<double> x{2, 1e200, 1e-3}, m{1, 2, 3, 4};
    const std::vector<std::int64_t> id{5, 6, 7, 8};
    std::vector<double> f(3);
    std::vector<std::int64_t> near(3), first(3);
    job.targets(3, {{"x", x.data()}});
    job.sources(4, {{"m", m.data()}, {"id", id.data()}});
    job.run({{"f", f.data()}, {"near", near.data()}, {"near_0", first.data()}});
    const double right[] = {12, 10, 4010};
    for (std::size_t k = 0; k < f.size(); ++k) CHECK(std::abs(f[k] / right[k] - 1) < 1e-13);
    CHECK(near == std::vector<std::int64_t>{2, 2, 2});
    CHECK(first == std::vector<std::int64_t>{7, 7, 7});
  }
}

}  // namespace gdr::test
