// Kernels with numbers beyond the range of floats: the engine repeats these runs in doubles and
// reports it.
#include <string>
#include <vector>

#include "engine/all_engines.hpp"

namespace gdr::test {
namespace {

constexpr Tolerances tolerances{1e-6, 1e-6, 1e-5};
const std::string range_head = "VARI x; VARJ k; VARF f;\n";

/// Why runs of a kernel on floats were not done in floats, or empty.
std::string reason_of(const std::string& text, const std::vector<double>& x) {
  Device device = Device::open("emulator:chips=1,blocks=1,pes=4,threads=1,engine=native-float");
  Job job = device.job(Kernel(*compiled(text).program));
  const std::vector<double> k{1, 0.5, -2};
  std::vector<double> f(x.size());
  job.targets(x.size(), {{"x", ConstArray(x)}});
  job.sources(k.size(), {{"k", ConstArray(k)}});
  job.run({{"f", MutableArray(f)}});
  return device.statistics().fallback_reason;
}

}  // namespace

TEST_CASE("native-float gives a quotient whose missing items divide zero by zero") {
  const Data data{{"x", {0.5}}, {"y", {0}}, {"p", {0.3, 0.2}}, {"q", {0.5, -1}}};
  check_everywhere("VARI x, y; VARJ p, q; VARF f; skip if (x > 2.5); f += q*exp(x)*(p/q);", data,
                   {1e-6, 1e-6, 1e-5});
}

TEST_CASE("native-float gives results whose parts are too large or too small for floats") {
  const Data data{{"x", {1e6, -3e5, 2e-6}}, {"k", {1, -0.5, 3}}};
  check_everywhere(range_head + "f += k*pow(x,-8)*(x^8);", data, tolerances);
  check_everywhere(range_head + "f += k*pow(x,-4)*pow(x,-4)*(x^4)*(x^4);", data, tolerances);
  check_everywhere(range_head + "t = x*x*x*x; f += k*rsqrt(t*t)*t;", data, tolerances);
  check_everywhere(range_head + "f += x*1e-30*1e-12*k*1e42;", data, tolerances);
  check_everywhere(range_head + "skip if (x*x*x*x*x*x*x > 3*x*x*x*x*x*x*x); f += k;", data,
                   tolerances);
}

TEST_CASE("native-float gives reciprocals of the largest floats") {
  const Data data{{"x", {1.5e38, -3e38, 8.6e37}}, {"k", {1, -0.5}}};
  check_everywhere(range_head + "f += k*recip(x)*x;", data, tolerances);
  check_everywhere(range_head + "f += k*(recip(x) + 1e-38)*1e38;", data, tolerances);
}

TEST_CASE("native-float accepts inputs beyond the range of floats") {
  const Data data{{"x", {1e-41, 0.5, -2e60}}, {"k", {1e39, -3e-40, 2}}};
  check_everywhere(range_head + "f += (x*1e20)*(k*1e-20);", data, tolerances);
  check_everywhere(range_head + "f += x; f += 3*k;", data, tolerances);
}

TEST_CASE("native-float reports runs in doubles") {
  const std::string law = range_head + "f += k*pow(x,-4)*pow(x,-4);";
  CHECK(reason_of(law, {1, -2.5, 7, 0.5}).empty());
  const std::string beyond = "numbers or integers beyond the range of floats";
  CHECK(reason_of(law, {1, -2.5e5, 7, 2}).find(beyond) != std::string::npos);
  CHECK(reason_of(law, {1, -2.5e-6, 7, 2}).find(beyond) != std::string::npos);
  CHECK(reason_of(law, {1, 1e-50, 7, 2}).find(beyond) != std::string::npos);
}

}  // namespace gdr::test
