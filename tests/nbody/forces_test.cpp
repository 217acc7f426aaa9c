// The host's direct sum against long double arithmetic, and forces out of range.
#include "libgdr/nbody/forces.hpp"

#include <cmath>
#include <random>

#include "gdr/gravity.hpp"
#include "support/expect_error.hpp"

namespace gdr::test {
namespace {

struct Sample {
  std::vector<double> position, mass;
};

Sample random_sample(std::size_t n) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Sample s;
  for (std::size_t i = 0; i < n; ++i) {
    s.mass.push_back(std::abs(normal(random)) / static_cast<double>(n));
    for (int k = 0; k < 3; ++k) s.position.push_back(normal(random));
  }
  return s;
}

/// Acceleration and potential of particle i, directly from the definition.
std::vector<long double> definition(const Sample& s, std::size_t i, long double eps) {
  std::vector<long double> result(4, 0);
  for (std::size_t j = 0; j < s.mass.size(); ++j) {
    if (j == i) continue;
    long double d[3], r2 = eps * eps;
    for (std::size_t k = 0; k < 3; ++k) {
      d[k] = static_cast<long double>(s.position[3 * j + k]) - s.position[3 * i + k];
      r2 += d[k] * d[k];
    }
    if (r2 == 0) continue;
    for (std::size_t k = 0; k < 3; ++k) result[k] += s.mass[j] * d[k] / (r2 * std::sqrt(r2));
    result[3] -= s.mass[j] / std::sqrt(r2);
  }
  return result;
}

TEST_CASE("the direct sum agrees with long double arithmetic") {
  Sample s = random_sample(100);
  for (std::size_t k = 0; k < 3; ++k)
    s.position[3 + k] = s.position[k];  // two at the same position
  for (const double eps : {0.0, 0.01, 10.0}) {
    std::vector<double> acceleration(300), potential(100);
    direct_sum(s.position, s.mass, eps, acceleration, potential);
    for (std::size_t i = 0; i < 100; ++i) {
      const auto expected = definition(s, i, eps);
      for (std::size_t k = 0; k < 3; ++k)
        CHECK(acceleration[3 * i + k] ==
              Approx(static_cast<double>(expected[k])).epsilon(1e-11).margin(1e-12));
      CHECK(potential[i] == Approx(static_cast<double>(expected[3])).epsilon(1e-11));
    }
  }
}

TEST_CASE("a single particle has no force") {
  for (const double eps : {0.0, 0.5}) {
    std::vector<double> a(3, 9), phi(1, 9);
    direct_sum(std::vector<double>{1, 2, 3}, std::vector<double>{4}, eps, a, phi);
    CHECK(a == std::vector<double>{0, 0, 0});
    CHECK(phi[0] == Approx(0).margin(1e-15));
  }
}

TEST_CASE("the gravitational constant scales forces and potentials") {
  const Sample s = random_sample(10);
  std::vector<double> a1(30), p1(10), a4(30), p4(10);
  host_forces(0.1, 1)(s.position, s.mass, a1, p1);
  host_forces(0.1, 4)(s.position, s.mass, a4, p4);
  for (std::size_t k = 0; k < 30; ++k) CHECK(a4[k] == 4 * a1[k]);
  for (std::size_t k = 0; k < 10; ++k) CHECK(p4[k] == 4 * p1[k]);
}

TEST_CASE("a non-finite force raises an error with the particle") {
  const std::vector<double> fine = {0, 0, 0, 0, 0, 0}, potential = {0, 0};
  CHECK_NOTHROW(check_forces(fine, fine, potential));
  expect_error(ErrorCategory::Input, {"particle 1", "larger eps"}, [&] {
    check_forces(fine, std::vector<double>{0, 0, 0, 0, INFINITY, 0}, potential);
  });
  expect_error(ErrorCategory::Input, {"particle 0"}, [&] {
    check_forces(fine, fine, std::vector<double>{NAN, 0});
  });
}

TEST_CASE("overflowing forces raise an error with the distant particle") {
  const std::vector<double> position = {0, 0, 0, 1, 0, 0, 0, -1e200, 0};
  const std::vector<double> mass = {1, 1, 1};
  std::vector<double> a(9), phi(3);
  expect_error(ErrorCategory::Input, {"particle 2 is too distant", "scale the units"},
               [&] { check_forces(position, std::vector<double>(9, NAN), phi); });
  for (const char* engine : {"exact", "native"}) {
    Device device = Device::open(engine);
    expect_error(ErrorCategory::Input, {"particle 2 is too distant"},
                 [&] { device_forces(device, 0.1, 1)(position, mass, a, phi); });
    Gravity gravity(device);
    expect_error(ErrorCategory::Input, {"source 2 is too distant"}, [&] {
      gravity.compute_on(2, position.data(), 3, position.data(), mass.data(), 0.1, a.data(),
                         nullptr);
    });
  }
}

}  // namespace
}  // namespace gdr::test
