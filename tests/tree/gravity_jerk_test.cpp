// Jerks of gravity: direct sums and trees, compared with sums in long doubles.
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "gdr/error.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"
#include "tree/bodies.hpp"

using namespace gdr;
using namespace tree_test;
using gdr::test::contains;

namespace {

struct JerkSums {
  std::vector<double> acc, jerk, pot;
  TreeReport report = {};
  explicit JerkSums(std::size_t n) : acc(3 * n, -77), jerk(3 * n, -77), pot(n, -77) {}
};

std::vector<double> velocities(std::size_t n, double drift) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> v(3 * n);
  for (double& x : v) x = drift + 0.5 * normal(random);
  return v;
}

/// Sums in long doubles, over j != i if `same`.
JerkSums jerk_oracle(const Bodies& at, const std::vector<double>& v, const Bodies& b,
                     const std::vector<double>& vj, double eps, bool same) {
  JerkSums s(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    long double a[3] = {}, jerk[3] = {}, pot = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      long double d[3], w[3], r2 = static_cast<long double>(eps) * eps, along = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        d[k] = static_cast<long double>(b.x[3 * j + k]) - at.x[3 * i + k];
        w[k] = static_cast<long double>(vj[3 * j + k]) - v[3 * i + k];
        r2 += d[k] * d[k];
        along += d[k] * w[k];
      }
      if ((same && i == j) || r2 == 0) continue;
      const long double weight = b.m[j] / std::sqrt(r2), force = weight / r2;
      pot -= weight;
      for (std::size_t k = 0; k < 3; ++k) {
        a[k] += force * d[k];
        jerk[k] += force * (w[k] - 3 * along / r2 * d[k]);
      }
    }
    for (std::size_t k = 0; k < 3; ++k) {
      s.acc[3 * i + k] = static_cast<double>(a[k]);
      s.jerk[3 * i + k] = static_cast<double>(jerk[k]);
    }
    s.pot[i] = static_cast<double>(pot);
  }
  return s;
}

double rms_of(const std::vector<double>& got, const std::vector<double>& right) {
  const auto length = [](const double* a) { return std::hypot(a[0], a[1], a[2]); };
  const std::size_t n = right.size() / 3;
  double all = 0, sum = 0;
  for (std::size_t i = 0; i < n; ++i) all += std::pow(length(&right[3 * i]), 2);
  const double least = 1e-3 * std::sqrt(all / static_cast<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    double d[3];
    for (std::size_t k = 0; k < 3; ++k) d[k] = got[3 * i + k] - right[3 * i + k];
    if (length(d) > 0) sum += std::pow(length(d) / std::max(least, length(&right[3 * i])), 2);
  }
  return std::sqrt(sum / static_cast<double>(n));
}

TreeOptions with_theta(double theta, unsigned degree) {
  TreeOptions options;
  options.theta = theta;
  options.method = degree == 1 ? TreeMethod::Monopole : TreeMethod::Multipole;
  options.degree = degree == 1 ? 0 : degree;
  options.group_size = 32;
  return options;
}

JerkSums jerks_of(const Bodies& b, const std::vector<double>& v, double eps,
                  const TreeOptions& options, const std::string& device_name = "native") {
  Device device = Device::open(device_name);
  GravityJerk gravity(device);
  JerkSums s(b.size());
  s.report = gravity.compute(b.size(), b.x, v, b.m, eps, s.acc, s.jerk, s.pot, options);
  return s;
}

}  // namespace

TEST_CASE("jerks are direct sums without a tree") {
  for (const std::size_t n : {2, 3, 50, 700}) {
    const Bodies b = plummer(n), at = cube(n / 2);
    const std::vector<double> v = velocities(n, 1), vi = velocities(n / 2, -1);
    Device device = Device::open("native");
    GravityJerk gravity(device);
    JerkSums s(n), t(n / 2);
    gravity.compute(n, b.x, v, b.m, 0.01, s.acc, s.jerk, s.pot);
    const JerkSums right = jerk_oracle(b, v, b, v, 0.01, true);
    CHECK(rms_of(s.acc, right.acc) < 1e-6);
    CHECK(rms_of(s.jerk, right.jerk) < 1e-6);
    gravity.compute_on(n / 2, at.x, vi, n, b.x, v, b.m, 0.01, t.acc, t.jerk, t.pot);
    const JerkSums right_at = jerk_oracle(at, vi, b, v, 0.01, false);
    CHECK(rms_of(t.acc, right_at.acc) < 1e-6);
    CHECK(rms_of(t.jerk, right_at.jerk) < 1e-6);
    const std::vector<double> jerk = s.jerk;
    gravity.compute(n, b.x, v, b.m, 0.01, nullptr, s.jerk, nullptr);
    CHECK(s.jerk == jerk);
  }
}

TEST_CASE("one moving particle, and no targets or sources, have no jerks") {
  const Bodies b = plummer(1);
  const std::vector<double> v = velocities(1, 1);
  Device device = Device::open("native");
  GravityJerk gravity(device);
  JerkSums s(1);
  gravity.compute(1, b.x, v, b.m, 0.01, s.acc, s.jerk, s.pot);
  CHECK(s.jerk == std::vector<double>(3, 0));
  gravity.compute_on(0, nullptr, nullptr, 1, b.x, v, b.m, 0.01, nullptr, nullptr, nullptr);
  s.jerk.assign(3, -77);
  gravity.compute_on(1, b.x, v, 0, nullptr, nullptr, nullptr, 0.01, s.acc, s.jerk, s.pot,
                     with_theta(0.5, 2));
  CHECK(s.jerk == std::vector<double>(3, 0));
}

TEST_CASE("jerks with a tree converge with the degree, also of moving clusters and of charges") {
  for (const char* name : {"plummer", "charges"}) {
    const Bodies b = bodies_named(name, 1500);
    for (const double drift : {0.0, 30.0}) {
      const std::vector<double> v = velocities(b.size(), drift);
      const JerkSums right = jerk_oracle(b, v, b, v, 1e-3, true);
      double before = 1;
      for (const unsigned degree : {1, 2, 3, 4, 5, 6}) {
        CAPTURE(name, drift, degree);
        const JerkSums got = jerks_of(b, v, 1e-3, with_theta(0.4, degree));
        const double error = rms_of(got.jerk, right.jerk);
        CHECK(error < before);
        CHECK(got.report.jerk_error < 3 * error + 1e-7);
        CHECK(error < 3 * got.report.jerk_error + 1e-7);
        before = error;
      }
      CHECK(before < 1e-3);
    }
  }
}

TEST_CASE("jerks have about the accuracy that is asked of accelerations") {
  const Bodies b = plummer(20'000);
  const std::vector<double> v = velocities(b.size(), 0);
  Device device = Device::open("native");
  JerkSums right(b.size());
  GravityJerk(device).compute(b.size(), b.x, v, b.m, 1e-3, right.acc, right.jerk, right.pot);
  for (const double wanted : {1e-2, 1e-3, 1e-4}) {
    TreeOptions options;
    options.accuracy = wanted;
    const JerkSums got = jerks_of(b, v, 1e-3, options);
    CAPTURE(wanted, got.report.degree, got.report.theta);
    CHECK(rms_of(got.acc, right.acc) <= wanted);
    CHECK(rms_of(got.jerk, right.jerk) <= 10 * wanted);
    CHECK(got.report.error <= wanted);
  }
}

TEST_CASE("jerks do not depend on threads, and exact engines compute them") {
  const Bodies b = plummer(3000);
  const std::vector<double> v = velocities(b.size(), 1);
  const JerkSums one = jerks_of(b, v, 1e-3, with_theta(0.5, 3), "native:threads=1");
  CHECK(one.jerk == jerks_of(b, v, 1e-3, with_theta(0.5, 3), "native:threads=2").jerk);
  const Bodies few = plummer(200);
  const std::vector<double> vf = velocities(few.size(), 1);
  const JerkSums right = jerk_oracle(few, vf, few, vf, 0.01, true);
  CHECK(rms_of(jerks_of(few, vf, 0.01, with_theta(0.5, 3), "exact").jerk, right.jerk) < 2e-2);
}

TEST_CASE("masses that cancel, vanish or are all zero have jerks") {
  Bodies b = cube(3000);
  for (std::size_t i = 0; i < b.size(); ++i) b.m[i] = i % 2 == 0 ? 1 : -1;
  const std::vector<double> v = velocities(b.size(), 2);
  const JerkSums right = jerk_oracle(b, v, b, v, 1e-2, true);
  CHECK(rms_of(jerks_of(b, v, 1e-2, with_theta(0.3, 4)).jerk, right.jerk) < 1e-2);
  b.m.assign(b.size(), 0);
  CHECK(jerks_of(b, v, 1e-2, with_theta(0.3, 4)).jerk == std::vector<double>(9000, 0));
  b.m[17] = 1;
  const JerkSums one = jerk_oracle(b, v, b, v, 1e-2, true);
  CHECK(rms_of(jerks_of(b, v, 1e-2, with_theta(0.3, 4)).jerk, one.jerk) < 1e-2);
}

TEST_CASE("velocities that are not numbers are named") {
  const Bodies b = plummer(2000);
  std::vector<double> v = velocities(b.size(), 0);
  v[301] = std::numeric_limits<double>::quiet_NaN();
  try {
    jerks_of(b, v, 0.1, with_theta(0.5, 2));
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(contains(error.what(), "particle 100: component y of its velocity is not finite"));
  }
  v[301] = 1e200;  // beyond the range of trees
  Device device = Device::open("native");
  JerkSums right(b.size());
  GravityJerk(device).compute(b.size(), b.x, v, b.m, 0.1, right.acc, right.jerk, right.pot);
  CHECK(jerks_of(b, v, 0.1, with_theta(0.5, 2)).jerk == right.jerk);
  TreeOptions expansion;
  expansion.method = TreeMethod::Expansion;
  CHECK_THROWS_AS(jerks_of(b, b.x, 0.1, expansion), Error);
  Bodies none = plummer(0);
  CHECK_THROWS_AS(jerks_of(none, {}, 0.1, with_theta(0.5, 2)), Error);
}
