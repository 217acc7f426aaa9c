// Approximations of the Boys functions, compared with MPFR.
#include <mpfr.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "gdr/device.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/chemistry/boys_fit.hpp"
#include "libgdr/chemistry/derivatives.hpp"
#include "libgdr/chemistry/kernel_text.hpp"
#include "support/catch.hpp"

using gdr::chemistry::Accuracy;

namespace {

/// F_m(T) by the series e^-T sum over i of (2 T)^i/((2 m + 1)(2 m + 3)...(2 m + 2 i + 1)), whose
/// terms are positive, with 200 bits.
double exact_boys(unsigned m, double argument) {
  mpfr_t sum, term, factor;
  mpfr_inits2(200, sum, term, factor, nullptr);
  mpfr_set_ui(term, 1, MPFR_RNDN);
  mpfr_div_ui(term, term, 2 * m + 1, MPFR_RNDN);
  mpfr_set(sum, term, MPFR_RNDN);
  for (unsigned long i = 1;; ++i) {
    mpfr_mul_d(term, term, 2 * argument, MPFR_RNDN);
    mpfr_div_ui(term, term, 2 * (m + i) + 1, MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
    if (static_cast<double>(2 * i) > 2 * argument && mpfr_get_exp(term) < mpfr_get_exp(sum) - 120)
      break;
  }
  mpfr_set_d(factor, -argument, MPFR_RNDN);
  mpfr_exp(factor, factor, MPFR_RNDN);
  mpfr_mul(sum, sum, factor, MPFR_RNDN);
  const double value = mpfr_get_d(sum, MPFR_RNDN);
  mpfr_clears(sum, term, factor, nullptr);
  return value;
}

double fitted(unsigned m, Accuracy accuracy, double argument) {
  const gdr::chemistry::BoysFit& fit = gdr::chemistry::boys_fit(m, accuracy);
  const double u = (fit.c - argument) / (argument + fit.c);
  const auto at = [u](std::span<const double> c) {
    double sum = 0;
    for (std::size_t k = c.size(); k-- > 0;) sum = sum * u + c[k];
    return sum;
  };
  return at(fit.p) / at(fit.q) * std::pow(argument + fit.c, -(m + 0.5));
}

/// Zero, and arguments between 1e-6 and 1e4.
std::vector<double> arguments() {
  std::vector<double> all{0};
  for (int k = 0; k <= 400; ++k) all.push_back(std::pow(10, -6 + k / 40.0));
  return all;
}

/// F_0 to F_order on a device, by the statements of the Coulomb kernels.
void compute_boys(gdr::Device& device, unsigned order, const std::vector<double>& arguments,
                  std::vector<double>& values) {
  gdr::CompileOptions options;
  options.pipeline = false;
  auto compiled = gdr::compile_kernel(gdr::chemistry::boys_kernel(order), "boys", options);
  REQUIRE(compiled.ok());
  // p = q = 1, so that 2 alpha = 1, alpha r2 is half of r2, and sqrt(p + q) is that of 2.
  gdr::Job job = device.job(gdr::Kernel(std::move(*compiled.program)));
  std::vector<double> doubled = arguments;
  for (double& t : doubled) t *= 2;
  const double one = 1;
  job.sources(1, {{"p", &one}, {"q", &one}});
  job.targets(doubled.size(), {{"r2", doubled}});
  job.run({{"f[]", {values.data(), sizeof(double)}}});
  for (double& value : values) value *= std::numbers::sqrt2;
}

}  // namespace

TEST_CASE("the approximations of the Boys functions are accurate to 1e-13 and 1.5e-8",
          "[chemistry]") {
  for (unsigned m = 0; m <= 8; ++m) {
    double longs = 0, shorts = 0;
    for (const double t : arguments()) {
      const double exact = exact_boys(m, t);
      longs = std::max(longs, std::abs(fitted(m, Accuracy::Long, t) / exact - 1));
      shorts = std::max(shorts, std::abs(fitted(m, Accuracy::Short, t) / exact - 1));
    }
    INFO("m = " << m);
    CHECK(longs < 1e-13);
    CHECK(shorts < 1.5e-8);
  }
}

TEST_CASE("devices compute Boys functions with errors below 2e-13, and 5e-13 on the chip",
          "[chemistry]") {
  // The chip's multiplier truncates a factor to 50 bits, and F_8 has the factor w^17.
  struct Engine {
    std::string name;
    double bound;
  };
  const std::vector<double> t = arguments();
  for (const auto& [engine, bound] : {Engine{"native", 2e-13}, Engine{"vector", 5e-13}}) {
    gdr::Device device = gdr::Device::open("emulator:chips=1,engine=" + engine);
    for (const unsigned order : {0U, 1U, 8U}) {
      std::vector<double> values(t.size() * (order + 1));
      compute_boys(device, order, t, values);
      for (std::size_t k = 0; k < t.size(); ++k) {
        for (unsigned m = 0; m <= order; ++m) {
          INFO(engine << ", order " << order << ", m = " << m << ", T = " << t[k]);
          CHECK(std::abs(values[k * (order + 1) + m] / exact_boys(m, t[k]) - 1) < bound);
        }
      }
    }
  }
}

TEST_CASE("the Boys functions of the reference are accurate to 1e-13", "[chemistry]") {
  for (const double t : arguments()) {
    double values[9];
    gdr::chemistry::boys_reference(8, t, values);
    for (unsigned m = 0; m <= 8; ++m) {
      INFO("m = " << m << ", T = " << t);
      CHECK(std::abs(values[m] / exact_boys(m, t) - 1) < 1e-13);
    }
  }
}
