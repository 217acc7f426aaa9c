// The mathematical functions on `native`, against those of the C library in long doubles.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

using Real = long double;

/// Arguments between `least` and `most`, whose logarithms are uniformly distributed unless one of
/// these is not positive; `both`: with both signs.
struct Range {
  double least, most;
  bool both = false;
};

struct Function {
  const char* text;  ///< of x
  Real (*value)(Real);
  Range range;
};

Real inverse(Real x) { return 1 / x; }
Real root(Real x) { return std::sqrt(x); }
Real inverse_root(Real x) { return 1 / std::sqrt(x); }

/// The Boys function: e^-T times the sum of (2T)^k / ((2m + 1) (2m + 3) ... (2m + 2k + 1)).
template <int m>
Real boys(Real t) {
  Real term = 1 / Real{2 * m + 1}, sum = 0;
  for (int k = 1; term > sum * 1e-21L; ++k) {
    sum += term;
    term *= 2 * t / (2 * m + 2 * k + 1);
  }
  return std::exp(-t) * sum;
}

const Function functions[] = {
    {"1/x", inverse, {1e-300, 1e300, true}},
    {"sqrt(x)", root, {1e-300, 1e300}},
    {"rsqrt(x)", inverse_root, {1e-300, 1e300}},
    {"x^-1.5", [](Real x) { return 1 / (x * std::sqrt(x)); }, {1e-100, 1e100}},
    {"x^1.5", [](Real x) { return x * std::sqrt(x); }, {1e-100, 1e100}},
    {"x^-3", [](Real x) { return 1 / (x * x * x); }, {1e-90, 1e90, true}},
    {"x^1.7", [](Real x) { return std::pow(x, Real{1.7}); }, {1e-3, 1e3}},
    {"pow(2.2, x)", [](Real x) { return std::pow(Real{2.2}, x); }, {-20, 20}},
    {"exp(x)", [](Real x) { return std::exp(x); }, {-690, 690}},
    {"log(x)", [](Real x) { return std::log(x); }, {1e-300, 1e300}},
    {"log(x)", [](Real x) { return std::log(x); }, {0.5, 2}},
    {"sin(x)", [](Real x) { return std::sin(x); }, {1e-8, 1e4, true}},
    {"cos(x)", [](Real x) { return std::cos(x); }, {1e-8, 1e4, true}},
    {"tan(x)", [](Real x) { return std::tan(x); }, {1e-8, 1e3, true}},
    {"asin(x)", [](Real x) { return std::asin(x); }, {1e-8, 0.999999, true}},
    {"acos(x)", [](Real x) { return std::acos(x); }, {-1, 0.99}},
    {"atan(x)", [](Real x) { return std::atan(x); }, {1e-8, 1e8, true}},
    {"atan2(x, 2)", [](Real x) { return std::atan2(x, Real{2}); }, {1e-5, 1e5, true}},
    {"atan2(2, x)", [](Real x) { return std::atan2(Real{2}, x); }, {1e-5, 1e5, true}},
    {"tanh(x)", [](Real x) { return std::tanh(x); }, {1e-8, 30, true}},
    {"cbrt(x)", [](Real x) { return std::cbrt(x); }, {1e-200, 1e200, true}},
    {"erf(x)", [](Real x) { return std::erf(x); }, {1e-8, 6, true}},
    {"erfc(x)", [](Real x) { return std::erfc(x); }, {-3, 25}},
    {"boys(0, x)", boys<0>, {1e-3, 200}},
    {"boys(4, x)", boys<4>, {1e-3, 200}},
    {"boys(16, x)", boys<16>, {1e-3, 200}},
};

std::vector<double> arguments_in(const Range& range, std::size_t count) {
  std::mt19937_64 random(20261129);
  const bool logarithms = range.least > 0;
  std::uniform_real_distribution<double> exponents(logarithms ? std::log(range.least) : range.least,
                                                   logarithms ? std::log(range.most) : range.most);
  std::vector<double> list(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double x = exponents(random);
    list[k] = logarithms ? std::exp(x) : x;
    if (range.both && k % 2 == 1) list[k] = -list[k];
  }
  return list;
}

/// Values of an expression of x on an instruction set.
std::vector<double> values_of(const std::string& text, Isa isa, const std::vector<double>& x) {
  const Kernel kernel = Kernel::compile(
      "VARI q; VARJ zero; VARF result; precision short; x = q + zero; result += " + text + ";");
  Device device = Device::open("native:isa=" + std::string(isa_name(isa)));
  Job job = device.job(kernel);
  const double zero = 0;
  std::vector<double> values(x.size());
  job.sources(1, {{"zero", &zero}});
  job.targets(x.size(), {{"q", x}});
  job.run({{"result", values}});
  return values;
}

/// In units of the largest error that is allowed: two units of the last place or 1e-15.
Real relative_to_bound(double found, Real right) {
  const double magnitude = std::abs(static_cast<double>(right));
  const Real unit = std::nextafter(magnitude, INFINITY) - magnitude;
  const Real bound = std::max(2 * unit, 1e-15L * magnitude);
  return std::abs(found - right) / bound;
}

/// To the 25 bits of a short.
double nearest_short(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 25)), exponent - 25);
}

}  // namespace

TEST_CASE("functions on native reach two units of the last place or 1e-15") {
  constexpr std::size_t count = 4000;
  for (const Isa isa : host_isas())
    for (const Function& f : functions) {
      const std::vector<double> x = arguments_in(f.range, count);
      const std::vector<double> values = values_of(f.text, isa, x);
      Real worst = 0;
      double where = 0;
      for (std::size_t k = 0; k < count; ++k) {
        const Real error = relative_to_bound(values[k], f.value(x[k]));
        if (!(error <= worst)) worst = error, where = x[k];
      }
      INFO(isa_name(isa) << ": " << f.text << " at " << where);
      CHECK(worst <= 1);
    }
}

TEST_CASE("each factor of a constant power on native adds a small error") {
  struct Power {
    double exponent;
    int factors;
    bool of_roots;
  };
  const Power powers[] = {{12, 12, false}, {7, 7, false},   {-6, 6, false},  {-12, 12, false},
                          {-1.5, 3, true}, {-2.5, 5, true}, {-3.5, 7, true}, {3.5, 4, true}};
  for (const Isa isa : host_isas())
    for (const auto& [exponent, factors, of_roots] : powers) {
      const std::vector<double> x = arguments_in({0.01, 100}, 4000);
      const std::string text = "x^(" + std::to_string(exponent) + ")";
      const std::vector<double> values = values_of(text, isa, x);
      Real worst = 0;
      for (std::size_t k = 0; k < x.size(); ++k) {
        const Real right = std::pow(Real{x[k]}, Real{exponent});
        worst = std::max(worst, std::abs(values[k] - right) / right);
      }
      const Real of_factor = of_roots && isa == Isa::Avx2 ? 3.8e-16L : 2.5e-16L;
      INFO(isa_name(isa) << ": " << text << " " << static_cast<double>(worst));
      CHECK(worst <= factors * of_factor);
    }
}

TEST_CASE("a function that short(x) rounds is the nearest short on native") {
  const Function rounded[] = {
      {"short(1/x)", inverse, {1e-9, 1e9}},
      {"short(rsqrt(x))", inverse_root, {1e-9, 1e9}},
      {"short(sqrt(x))", root, {1e-9, 1e9}},
      {"short(exp(x))", [](Real x) { return std::exp(x); }, {-20, 20}},
  };
  for (const Isa isa : host_isas())
    for (const Function& f : rounded) {
      const std::vector<double> x = arguments_in(f.range, 1000);
      const std::vector<double> values = values_of(f.text, isa, x);
      std::size_t wrong = 0;
      for (std::size_t k = 0; k < x.size(); ++k)
        wrong += values[k] != nearest_short(static_cast<double>(f.value(x[k])));
      INFO(isa_name(isa) << ": " << f.text);
      CHECK(wrong == 0);
    }
}
