// Programs with one target in a PE on the native engine.
#include <cmath>
#include <string>
#include <vector>

#include "emulator/isa/program.hpp"
#include "gdr/device.hpp"
#include "support/catch.hpp"

using namespace gdr;

TEST_CASE("with one target in a PE all results that are scaled alike at the end are scaled",
          "[board]") {
  // Too many results for two targets; the root is computed up to a factor.
  constexpr std::size_t results = 17;
  const Kernel kernel = Kernel::compile(
      "precision long; VARI x; VARJ xs, q[17]; VARF v[17];"
      "r = rsqrt((xs - x)*(xs - x)); for k = 0 .. 16 { v[k] += q[k]*r; }");
  REQUIRE(kernel.program().elements == 1);
  Device device = Device::open("emulator:engine=native");
  Job job = device.job(kernel);
  const double x = 1, xs = 3;
  std::vector<double> q(results), v(results);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < results; ++k) names.push_back("q_" + std::to_string(k));
  std::vector<NamedInput> sources{{"xs", &xs}};
  for (std::size_t k = 0; k < results; ++k) {
    q[k] = static_cast<double>(k + 1);
    sources.push_back({names[k], &q[k]});
  }
  job.sources(1, sources);
  job.targets(1, {{"x", &x}});
  job.run({{"v[]", v}});
  for (std::size_t k = 0; k < results; ++k) CHECK(std::abs(v[k] - q[k] / 2) < 1e-12);
}
