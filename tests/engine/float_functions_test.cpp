// The mathematical functions of kernels on the engines among floats: computed in floats, within
// some units of the last place, and right where floats end.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emulator/host/isa.hpp"
#include "gdr/device.hpp"
#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/processor_time.hpp"

namespace gdr::test {
namespace {

using Value = std::function<double(double)>;

/// A function of a number `a` and of a constant source word `b`, and its arguments.
struct Case {
  std::string call;
  Value value;
  double from = 0, to = 0;
  double bound = 0;  ///< error relative to the value, or to `scale` where that is larger
  double scale = 0;  ///< of errors where values are smaller
};

constexpr double b_value = 2.25, p_value = 1.3125;

const std::vector<Case>& cases() {
  constexpr double ulp = 0x1p-24;  // half a unit of the last place
  static const std::vector<Case> all{
      {"exp(a)", [](double x) { return std::exp(x); }, -40, 88, 2 * ulp, 0},
      {"exp(a)", [](double x) { return std::exp(x); }, -1, 1, 2 * ulp, 0},
      {"log(a)", [](double x) { return std::log(x); }, 0.5, 2, 2 * ulp, 0},
      {"log(a)", [](double x) { return std::log(x); }, 1, 1e30, 2 * ulp, 0},
      {"sin(a)", [](double x) { return std::sin(x); }, -20, 20, 2.5 * ulp, 0.1},
      {"sin(a)", [](double x) { return std::sin(x); }, -1e5, 1e5, 2.5 * ulp, 0.1},
      {"cos(a)", [](double x) { return std::cos(x); }, -20, 20, 2.5 * ulp, 0.1},
      {"cos(a)", [](double x) { return std::cos(x); }, -1e5, 1e5, 2.5 * ulp, 0.1},
      {"tanh(a)", [](double x) { return std::tanh(x); }, -12, 12, 5 * ulp, 0},
      {"tanh(a)", [](double x) { return std::tanh(x); }, -0.01, 0.01, 5 * ulp, 0},
      {"erf(a)", [](double x) { return std::erf(x); }, -5, 5, 5 * ulp, 0},
      {"erfc(a)", [](double x) { return std::erfc(x); }, -5, 6, 8 * ulp, 0},
      {"pow(a, b)", [](double x) { return std::pow(x, b_value); }, 0.01, 1000, 2.5 * ulp, 0},
      {"pow(a, 1.7)", [](double x) { return std::pow(x, 1.7); }, 0.01, 1000, 2.5 * ulp, 0},
      {"pow(a, -0.85)", [](double x) { return std::pow(x, -0.85); }, 0.01, 1000, 2.5 * ulp, 0},
      {"pow(a, p)", [](double x) { return std::pow(x, p_value); }, 0.01, 1000, 2.5 * ulp, 0},
      {"pow(2.2, a)", [](double x) { return std::pow(2.2, x); }, -20, 20, 20 * ulp, 0},
      {"pow(p, a)", [](double x) { return std::pow(p_value, x); }, -20, 20, 2.5 * ulp, 0},
      {"tan(a)", [](double x) { return std::tan(x); }, -20, 20, 5 * ulp, 0.1},
      {"tan(a)", [](double x) { return std::tan(x); }, -1e4, 1e4, 5 * ulp, 10},
      {"asin(a)", [](double x) { return std::asin(x); }, -1, 1, 5 * ulp, 0},
      {"asin(a)", [](double x) { return std::asin(x); }, -1e-3, 1e-3, 4 * ulp, 0},
      {"acos(a)", [](double x) { return std::acos(x); }, -1, 1, 4 * ulp, 0},
      {"acos(a)", [](double x) { return std::acos(x); }, 0.999, 1, 4 * ulp, 0},
      {"atan(a)", [](double x) { return std::atan(x); }, -3, 3, 4 * ulp, 0},
      {"atan(a)", [](double x) { return std::atan(x); }, 1e-6, 1e6, 4 * ulp, 0},
      {"atan2(a, b)", [](double x) { return std::atan2(x, b_value); }, -20, 20, 4 * ulp, 0},
      {"atan2(-b, a)", [](double x) { return std::atan2(-b_value, x); }, -20, 20, 4 * ulp, 0},
      {"atan2(a, 1 - b*a)", [](double x) { return std::atan2(x, 1 - b_value * x); }, -20, 20,
       4 * ulp, 1},
      {"cbrt(a)", [](double x) { return std::cbrt(x); }, -1000, 1000, 4 * ulp, 0},
      {"cbrt(a)", [](double x) { return std::cbrt(x); }, 1e-30, 1e30, 4 * ulp, 0},
      {"round(a)", [](double x) { return std::nearbyint(x); }, -1000, 1000, 0, 0},
      {"floor(a)", [](double x) { return std::floor(x); }, -1000, 1000, 0, 0},
      {"ceil(a)", [](double x) { return std::ceil(x); }, -1000, 1000, 0, 0},
      {"trunc(a)", [](double x) { return std::trunc(x); }, -1000, 1000, 0, 0},
      {"minimum_image(a, b)", [](double x) { return x - b_value * std::nearbyint(x / b_value); },
       -20, 20, 2 * ulp, 1},
      {"exp(-a*a)", [](double x) { return std::exp(-x * x); }, -5, 5, 30 * ulp, 0},
  };
  return all;
}

/// `short_numbers`: numbers of the kernel are shorts; else longs.
std::string text_of(const std::string& call, bool short_numbers) {
  return std::string(short_numbers ? "" : "precision long; ") +
         "VARI x; VARJ s, b; CONST p; VARF r; a = x + s; r += " + call + " + 0*b*p;";
}

std::vector<double> arguments(double from, double to, std::size_t count) {
  std::vector<double> x;
  const bool decades = from > 0 && to / from > 50;
  for (std::size_t k = 0; k < count; ++k) {
    const double u = (static_cast<double>(k) + 0.5) / static_cast<double>(count);
    const double value = decades ? from * std::pow(to / from, u) : from + (to - from) * u;
    x.push_back(static_cast<float>(value));
  }
  return x;
}

struct Outcome {
  std::vector<double> r;
  std::string reason;
};

Outcome run_function(const std::string& engine, const Kernel& kernel,
                     const std::vector<double>& x) {
  Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
  Job job = device.job(kernel);
  Outcome made{std::vector<double>(x.size()), {}};
  const std::vector<double> s{0}, b{b_value};
  job.targets(x.size(), {{"x", x.data()}});
  job.sources(1, {{"s", s.data()}, {"b", b.data()}});
  job.set("p", p_value);
  job.run({{"r", made.r.data()}});
  made.reason = device.statistics().fallback_reason;
  return made;
}

/// With every instruction set and the GPU, or with the best instruction set only: a kernel of longs
/// becomes the same floats for all.
std::vector<std::string> float_engines(bool every_isa = true) {
  std::vector<std::string> all;
  for (const Isa isa : host_isas()) {
    if (!every_isa && isa != host_isas().front()) continue;
    const std::string name(isa_name(isa));
    all.push_back("native-float,isa=" + name);
    all.push_back("native-mixed,isa=" + name);
    all.push_back("native-fast,isa=" + name);
  }
  if (every_isa && use_gpu_for_all()) all.push_back("gpu-float");
  return all;
}

/// The largest error of a result, relative to the value or to the scale.
double largest_error(const Case& c, const std::vector<double>& x, const std::vector<double>& r) {
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double right = c.value(x[k]), size = std::max(std::abs(right), c.scale);
    const double error = r[k] == right ? 0 : std::abs(r[k] - right) / size;
    if (!(error <= most)) most = error;
  }
  return most;
}

}  // namespace

TEST_CASE("functions are computed in floats, with errors of some units of their last place") {
  for (const Case& c : cases())
    for (const bool shorts : {true, false}) {
      const std::string text = text_of(c.call, shorts);
      const Kernel kernel = Kernel::compile(text);
      const std::vector<double> x = arguments(c.from, c.to, 1000);
      for (const std::string& engine : float_engines(shorts)) {
        INFO(engine << ": " << text << ", from " << c.from);
        const Outcome got = run_function(engine, kernel, x);
        CHECK(got.reason.empty());
        CHECK(largest_error(c, x, got.r) <= c.bound);
      }
    }
}

TEST_CASE("results of functions beyond the range of floats are those of doubles") {
  const std::vector<Case> all{
      {"exp(a)", [](double x) { return std::exp(x); }, -650, 650, 2e-7},
      {"erfc(a)", [](double x) { return std::erfc(x); }, 6, 25, 2e-7},
      {"pow(a, b)", [](double x) { return std::pow(x, b_value); }, 1e-36, 1e36, 2e-6},
      {"sin(a)", [](double x) { return std::sin(x); }, 1e6, 2e7, 1e-6, 1},
      {"log(1/(a*a*a*a*a*a))", [](double x) { return -6 * std::log(x); }, 1e10, 1e12, 1e-6},
  };
  for (const Case& c : all) {
    // Not the texts of other tests: compiled code counts its runs in doubles.
    const std::string text = text_of(c.call + " + 0*a", true);
    const Kernel kernel = Kernel::compile(text);
    for (const std::string& engine : float_engines()) {
      INFO(engine << ": " << text);
      const std::vector<double> x = arguments(c.from, c.to, 500);
      const Outcome got = run_function(engine, kernel, x);
      CHECK(got.reason.find("beyond the range of floats") != std::string::npos);
      CHECK(largest_error(c, x, got.r) <= c.bound);
    }
  }
}

TEST_CASE("results are right where functions have no value, or an infinite one") {
  const Kernel kernel = Kernel::compile(text_of("(log(a) + pow(a, b))", true));
  for (const std::string& engine : float_engines()) {
    INFO(engine);
    const Outcome got = run_function(engine, kernel, {0, -1, 2});
    CHECK(got.r[0] == -INFINITY);
    CHECK(std::isnan(got.r[1]));
    CHECK(std::abs(got.r[2] - (std::log(2) + std::pow(2, b_value))) < 1e-5);
  }
}

namespace {

Kernel sum_of(const std::string& law) {
  return Kernel::compile("VARI x; VARJ q, m; VARF r; d = q - x; r += " + law + ";");
}

/// Sums over many sources, some of which are far away.
Outcome run_sums(const std::string& engine, const Kernel& sum, std::size_t targets,
                 const std::vector<double>& q) {
  Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
  Job job = device.job(sum);
  Outcome made{std::vector<double>(targets), {}};
  const std::vector<double> x = arguments(0, 1, targets), m(q.size(), 1e-6);
  job.targets(targets, {{"x", x.data()}});
  job.sources(q.size(), {{"q", q.data()}, {"m", m.data()}});
  job.run({{"r", made.r.data()}});
  made.reason = device.statistics().fallback_reason;
  return made;
}

}  // namespace

TEST_CASE("terms that vanish beside others leave a sum of exponentials in floats") {
  const std::vector<double> q = arguments(0, 60, 700);
  for (const std::string law :
       {"m*exp(-2*d*d)", "m*exp(-d)*exp(-2*d)", "m*erfc(d)", "(d*d < 4 ? m*exp(-3*d*d) : 0)"}) {
    const Kernel sum = sum_of(law);
    const Outcome right = run_sums("vector", sum, 64, q);
    for (const std::string& engine : float_engines()) {
      INFO(engine << ": " << law);
      const Outcome got = run_sums(engine, sum, 64, q);
      CHECK(got.reason.empty());
      for (std::size_t k = 0; k < got.r.size(); ++k)
        CHECK(std::abs(got.r[k] / right.r[k] - 1) < 1e-5);
    }
  }
}

TEST_CASE("exponentials of any size beside other numbers are computed in floats") {
  const std::vector<double> x{0, -1, -69.3, -69.4, -88, -104, -1e4, -1e8, -1e12};
  const Case sum{"(1 + exp(a))", [](double a) { return 1 + std::exp(a); }};
  const Kernel kernel = Kernel::compile(text_of(sum.call, true));
  for (const std::string& engine : float_engines()) {
    INFO(engine);
    const Outcome got = run_function(engine, kernel, x);
    CHECK(got.reason.empty());
    CHECK(largest_error(sum, x, got.r) <= 2e-7);
  }
  // The steps may overflow, which is said to have happened or has no effect.
  const std::vector<double> huge{-1, -1e15, -1e30, -3e38};
  for (const std::string& engine : float_engines()) {
    INFO(engine);
    CHECK(largest_error(sum, huge, run_function(engine, kernel, huge).r) <= 2e-7);
  }
  const std::vector<double> large{0, 1, 87, 88.8, 89.1, 1e4, 1e7, 1e12, 1e30};
  const Case fermi{"recip(1 + exp(a))", [](double a) { return 1 / (1 + std::exp(a)); }, 0, 0, 0, 1};
  const Kernel inverse = Kernel::compile(text_of(fermi.call, true));
  for (const std::string& engine : float_engines()) {
    INFO(engine);
    CHECK(largest_error(fermi, large, run_function(engine, inverse, large).r) <= 2e-7);
  }
}

TEST_CASE("a root of zero counts where no condition excludes it") {
  const Kernel kernel = Kernel::compile(
      "VARI x; VARJ q, m; VARF r, t, u; d = q - x; r2 = d*d; s = sqrt(r2); t += s + 1;"
      "if (r2 != 0) { r += m*exp(-sqrt(r2))*rsqrt(r2); u += sqrt(r2); }");
  const std::vector<double> x{0, 0.25, 0.5, 2}, q{0.5, 0.25, -1, 3, 2}, m{1, 2, 3, 4, 5};
  std::vector<std::string> engines = float_engines();
  for (const Isa isa : host_isas()) engines.push_back("native,isa=" + std::string(isa_name(isa)));
  for (const std::string& engine : engines) {
    INFO(engine);
    Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
    Job job = device.job(kernel);
    std::vector<double> r(x.size()), t(x.size()), u(x.size());
    job.targets(x.size(), {{"x", x.data()}});
    job.sources(q.size(), {{"q", q.data()}, {"m", m.data()}});
    job.run({{"r", r.data()}, {"t", t.data()}, {"u", u.data()}});
    CHECK(device.statistics().fallback_reason.empty());
    const double bound = engine.find("fast") != std::string::npos      ? 1e-3
                         : engine.find("native,") == std::string::npos ? 1e-6
                                                                       : 1e-14;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double right_r = 0, right_t = 0, right_u = 0;
      for (std::size_t j = 0; j < q.size(); ++j) {
        const double s = std::abs(q[j] - x[i]);
        right_t += s + 1;
        right_u += s;
        if (s != 0) right_r += m[j] * std::exp(-s) / s;
      }
      CHECK(std::abs(r[i] / right_r - 1) < bound);
      CHECK(std::abs(t[i] / right_t - 1) < bound);
      CHECK(std::abs(u[i] / right_u - 1) < bound);
    }
  }
}

TEST_CASE("a sum of which all terms vanish in floats is computed in doubles") {
  const std::vector<double> q = arguments(13, 14, 70);
  const Kernel sum = sum_of("m*exp(-0.99*d*d)");
  const Outcome right = run_sums("vector", sum, 64, q);
  for (const std::string& engine : float_engines()) {
    INFO(engine);
    const Outcome got = run_sums(engine, sum, 64, q);
    for (std::size_t k = 0; k < got.r.size(); ++k) {
      CHECK(right.r[k] > 0);
      CHECK(std::abs(got.r[k] / right.r[k] - 1) < 1e-5);
    }
  }
}

TEST_CASE("comparisons of functions are those of doubles") {
  struct Law {
    std::string text;
    double value;
  };
  // Of x = 0 and b = 2.25.
  const Law laws[] = {{"log(a) < 100 ? 1 : 2", 1},          {"pow(a, b) < 1 ? 1 : 2", 1},
                      {"exp(a - 80) > 1e-36 ? 1 : 2", 1},   {"sin(a + 3e6) < 0.9 ? 1 : 2", 1},
                      {"erfc(a + 8.5) > 1e-35 ? 1 : 2", 1}, {"tanh(a) < 0.1 ? 1 : 2", 1}};
  for (const Law& law : laws) {
    const Kernel kernel = Kernel::compile(text_of("(" + law.text + ")", true));
    for (const std::string& engine : float_engines()) {
      INFO(engine << ": " << law.text);
      const Outcome got = run_function(engine, kernel, {0, 0, 0});
      CHECK(got.r == std::vector<double>(3, law.value));
    }
  }
}

TEST_CASE("conditions on functions leave a kernel in floats") {
  // Of x = 0.25, 0.5 ... and b = 2.25.
  const std::vector<Case> laws{
      {"(sin(3*a) < 0.3 ? 1 : 2)", [](double x) { return std::sin(3 * x) < 0.3 ? 1 : 2; }},
      {"(exp(-a*a) > 0.01 ? 1 : 2)", [](double x) { return std::exp(-x * x) > 0.01 ? 1 : 2; }},
      {"(2*exp(-9*a) < 0.5 ? 1 : 2)", [](double x) { return 2 * std::exp(-9 * x) < 0.5 ? 1 : 2; }},
      {"(pow(a, b) > 4 ? 1 : 2)", [](double x) { return std::pow(x, b_value) > 4 ? 1 : 2; }},
      {"(pow(a, 1.7) + a > 4 ? 1 : 2)", [](double x) { return std::pow(x, 1.7) + x > 4 ? 1 : 2; }},
      {"(erfc(a) < 0.1 ? 1 : 2)", [](double x) { return std::erfc(x) < 0.1 ? 1 : 2; }},
      {"(atan(a) < 1 ? 1 : 2)", [](double x) { return std::atan(x) < 1 ? 1 : 2; }},
      {"(cbrt(a) < 1.1 ? 1 : 2)", [](double x) { return std::cbrt(x) < 1.1 ? 1 : 2; }},
  };
  std::vector<double> x;
  for (int k = 1; k <= 60; ++k) x.push_back(0.25 * k);
  for (const Case& law : laws)
    for (const bool shorts : {true, false}) {
      const std::string text = text_of(law.call, shorts);
      const Kernel kernel = Kernel::compile(text);
      for (const std::string& engine : float_engines(shorts)) {
        if (engine == "gpu-float") continue;  // which cannot detect overflows
        const Outcome got = run_function(engine, kernel, x);
        INFO(engine << ": " << text << ": " << got.reason);
        CHECK(got.reason.empty());
        for (std::size_t k = 0; k < x.size(); ++k) CHECK(got.r[k] == law.value(x[k]));
      }
    }
}

TEST_CASE("a condition on a function beyond the range of floats is that of doubles, and said") {
  // Of x = 0 and b = 2.25. In floats the first would overflow, the others vanish.
  const std::vector<Case> laws{
      {"(tan(a + 2e6) < 0 ? 1 : 2)", [](double) { return std::tan(2e6) < 0 ? 1 : 2; }},
      {"(atan((a + 1e30)*1e30) > 1 ? 1 : 2)", [](double) { return 1; }},
      {"(b*exp(a - 80) > 1e-36 ? 1 : 2)", [](double) { return 1; }},
      {"(exp(a - 80) < b*exp(a - 79) ? 1 : 2)", [](double) { return 1; }},
      {"(pow(exp(a - 80), 0.05) > 0.01 ? 1 : 2)", [](double) { return 1; }},
  };
  for (const Case& law : laws) {
    const Kernel kernel = Kernel::compile(text_of(law.call, true));
    for (const std::string& engine : float_engines()) {
      INFO(engine << ": " << law.call);
      const Outcome got = run_function(engine, kernel, {0, 0, 0});
      CHECK(got.reason.find("doubles instead of floats") != std::string::npos);
      for (const double r : got.r) CHECK(r == law.value(0));
    }
  }
}

TEST_CASE("functions of tiny numbers and of zero are computed in floats") {
  const std::vector<Case> all{
      {"sin(a*a)", [](double x) { return std::sin(x * x); }},
      {"tan(a*a)", [](double x) { return std::tan(x * x); }},
      {"tanh(a*a)", [](double x) { return std::tanh(x * x); }},
      {"erf(a*a)", [](double x) { return std::erf(x * x); }},
      {"asin(a*a)", [](double x) { return std::asin(x * x); }},
      {"atan(a*a)", [](double x) { return std::atan(x * x); }},
      {"cbrt(a*a)", [](double x) { return std::cbrt(x * x); }},
      {"acos(a*a)", [](double x) { return std::acos(x * x); }},
      {"exp(a*a)", [](double x) { return std::exp(x * x); }},
      {"1 + pow(a*a, b)", [](double x) { return 1 + std::pow(x * x, b_value); }},
      {"1 + pow(a*a, 1.7)", [](double x) { return 1 + std::pow(x * x, 1.7); }},
      {"1 + erfc(a*a)", [](double x) { return 1 + std::erfc(x * x); }},
  };
  const std::vector<double> x{0, 1e-9, -1e-8, 3e-7, 1e-4};
  for (const Case& c : all)
    for (const bool shorts : {true, false}) {
      const std::string text = text_of(c.call, shorts);
      const Kernel kernel = Kernel::compile(text);
      for (const std::string& engine : float_engines(shorts)) {
        const Outcome got = run_function(engine, kernel, x);
        INFO(engine << ": " << text << ": " << got.reason);
        CHECK(got.reason.empty());
        for (std::size_t k = 0; k < x.size(); ++k) {
          const double right = c.value(static_cast<float>(x[k]));
          CHECK(std::abs(got.r[k] - right) <= 6e-7 * std::abs(right));
        }
      }
    }
}

TEST_CASE("counters beside sums of floats leave these in floats") {
  const std::string text =
      "VARI x; VARJ q; VARF r; VARF int n, both; d = q - x; skip if (d == 0); r += d*d;"
      "n += d > 0.25 ? 1 : 0; if (d > 0.5) { both += 3; } else { both -= 1; }";
  const Kernel kernel = Kernel::compile(text);
  const std::vector<double> x = arguments(0, 1, 100), q = arguments(0, 1.5, 300);
  for (const std::string& engine : float_engines()) {
    INFO(engine);
    Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
    Job job = device.job(kernel);
    std::vector<double> r(x.size());
    std::vector<std::int32_t> n(x.size()), both(x.size());
    job.targets(x.size(), {{"x", x.data()}});
    job.sources(q.size(), {{"q", q.data()}});
    job.run({{"r", r.data()}, {"n", n.data()}, {"both", both.data()}});
    CHECK(device.statistics().fallback_reason.empty());
    for (std::size_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      int near = 0, right = 0;
      for (const double at : q) {
        const float d = static_cast<float>(at) - static_cast<float>(x[i]);
        if (d == 0) continue;
        sum += double{d} * d;
        near += d > 0.25F ? 1 : 0;
        right += d > 0.5F ? 3 : -1;
      }
      CHECK(std::abs(r[i] / sum - 1) < 1e-6);
      CHECK(n[i] == near);
      CHECK(both[i] == right);
    }
  }
}

TEST_CASE("of equally near sources all engines choose the same, also if ids are negative") {
  const Kernel kernel = Kernel::compile(
      "VARI x; VARJ q; VARJ int id; VARF m; VARF int who; d = q - x; m min= d*d : who = id;");
  const std::vector<double> x{0, 10}, q{1, -1, 1, 9, 11, 9};
  const std::vector<std::int64_t> id{-5, 3, -7, 8, -2, 4};
  const auto nearest = [&](const std::string& engine) {
    Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
    Job job = device.job(kernel);
    std::vector<double> m(2);
    std::vector<std::int64_t> who(2);
    job.targets(2, {{"x", x.data()}});
    job.sources(q.size(), {{"q", q.data()}, {"id", id.data()}});
    job.run({{"m", m.data()}, {"who", who.data()}});
    CHECK(m == std::vector<double>{1, 1});
    return who;
  };
  const std::vector<std::int64_t> right = nearest("vector");
  for (const std::string& engine : float_engines()) {
    INFO(engine);
    CHECK(nearest(engine) == right);
  }
}

TEST_CASE("preparing a kernel of many statements takes less than the cube of their number") {
  const auto seconds = [](int statements) {
    std::vector<Kernel> kernels;  // others each time: what was prepared is kept
    for (int k = 0; k < 3; ++k) {
      std::string text = "VARI x; VARJ s; VARF r;\nw = x - s*" + std::to_string(k + 2) + ";\n";
      for (int n = 0; n < statements; ++n) text += "w = w*0.5 + " + std::to_string(n % 7) + ";\n";
      kernels.push_back(Kernel::compile(text + "r += w;"));
    }
    const std::vector<double> x{1}, s{2};
    std::vector<double> r(1);
    return processor_seconds([&] {
      Device device = Device::open("emulator:chips=1,threads=1,engine=native-float");
      Job job = device.job(kernels.back());
      kernels.pop_back();
      job.targets(1, {{"x", x}});
      job.sources(1, {{"s", s}});
      job.run({{"r", r}});
    });
  };
  // The square would make it 16 times as long, the cube 64 times.
  const double few = seconds(100), many = seconds(400);
  INFO(few << " s, " << many << " s");
  CHECK(many < 40 * few);
}

}  // namespace gdr::test
