// Gravity with a softening length of each particle, compared with sums in long doubles.
#include <cmath>
#include <limits>
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

struct SoftSums {
  std::vector<double> acc, pot;
  TreeReport report = {};
  explicit SoftSums(std::size_t n) : acc(3 * n, -77), pot(n, -77) {}
};

/// Lengths over three decades, some of them zero.
std::vector<double> lengths(std::size_t n, double largest) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> eps;
  for (std::size_t i = 0; i < n; ++i)
    eps.push_back(i % 11 == 0 ? 0 : largest * std::pow(10, -3 * uniform(random)));
  return eps;
}

/// Sums in long doubles at `n` places; `target_eps`: null for targets without lengths, of which
/// each is the source with its number if `same`.
SoftSums soft_oracle(std::size_t n, const double* at, const double* target_eps, const Bodies& b,
                     const std::vector<double>& eps, bool same) {
  SoftSums s(n);
  for (std::size_t i = 0; i < n; ++i) {
    long double a[3] = {}, pot = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const long double ej = eps[j], ei = target_eps == nullptr ? ej : target_eps[i];
      long double d[3], r2 = (ei * ei + ej * ej) / 2;
      for (std::size_t k = 0; k < 3; ++k)
        d[k] = static_cast<long double>(b.x[3 * j + k]) - at[3 * i + k];
      for (const long double v : d) r2 += v * v;
      if ((same && i == j) || r2 == 0) continue;
      const long double weight = b.m[j] / std::sqrt(r2);
      pot -= weight;
      for (std::size_t k = 0; k < 3; ++k) a[k] += weight / r2 * d[k];
    }
    for (std::size_t k = 0; k < 3; ++k) s.acc[3 * i + k] = static_cast<double>(a[k]);
    s.pot[i] = static_cast<double>(pot);
  }
  return s;
}

double soft_error(const SoftSums& got, const SoftSums& right) {
  double all = 0, sum = 0;
  for (const double a : right.acc) all += a * a;
  const auto n = static_cast<double>(right.pot.size());
  const double least = 1e-3 * std::sqrt(all / n);
  for (std::size_t i = 0; i < right.pot.size(); ++i) {
    const double *g = &got.acc[3 * i], *r = &right.acc[3 * i];
    const double wrong = std::hypot(g[0] - r[0], g[1] - r[1], g[2] - r[2]);
    if (wrong > 0) sum += std::pow(wrong / std::max(least, std::hypot(r[0], r[1], r[2])), 2);
  }
  return std::sqrt(sum / n);
}

double soft_potential_error(const SoftSums& got, const SoftSums& right) {
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < right.pot.size(); ++i) {
    largest = std::max(largest, std::abs(right.pot[i]));
    error = std::max(error, std::abs(got.pot[i] - right.pot[i]));
  }
  return error / largest;
}

TreeOptions soft_options(TreeMethod method, double theta, unsigned degree = 0) {
  TreeOptions options;
  options.method = method;
  options.theta = theta;
  options.degree = degree;
  options.group_size = 32;
  return options;
}

}  // namespace

TEST_CASE("softening of each particle: direct sums are those of long doubles") {
  for (const char* engine : {"native", "exact", "native-float"}) {
    Device device = Device::open(engine);
    Gravity gravity(device);
    for (const std::size_t n : {1, 2, 3, 150}) {
      CAPTURE(engine, n);
      const Bodies b = plummer(n), at = cube(n + 1);
      const std::vector<double> eps = lengths(n, 0.5), others = lengths(n + 1, 0.3);
      SoftSums got(n), there(n + 1);
      gravity.compute(n, b.x, b.m, eps, got.acc, got.pot);
      const SoftSums right = soft_oracle(n, b.x.data(), eps.data(), b, eps, true);
      CHECK(soft_error(got, right) < 1e-6);
      if (n > 1) CHECK(soft_potential_error(got, right) < 1e-6);
      gravity.compute_on(n + 1, at.x, n, b.x, b.m, eps, there.acc, there.pot);
      SoftSums expected = soft_oracle(n + 1, at.x.data(), nullptr, b, eps, false);
      CHECK(soft_error(there, expected) < 1e-6);
      CHECK(soft_potential_error(there, expected) < 1e-6);
      gravity.compute_on(n + 1, at.x, n, b.x, b.m, Softening(eps, others), there.acc, there.pot);
      expected = soft_oracle(n + 1, at.x.data(), others.data(), b, eps, false);
      CHECK(soft_error(there, expected) < 1e-6);
      CHECK(soft_potential_error(there, expected) < 1e-6);
    }
  }
}

TEST_CASE("softening of each particle: equal lengths are one length") {
  const Bodies b = plummer(2000), at = cube(700);
  Device device = Device::open("native");
  Gravity gravity(device);
  for (const double eps : {0.0, 0.05, 3.0}) {
    const std::vector<double> each(b.size(), eps);
    SoftSums one(b.size()), all(b.size()), one_there(at.size()), all_there(at.size());
    for (const TreeOptions& options :
         {soft_options(TreeMethod::Direct, 0), soft_options(TreeMethod::Monopole, 0.5),
          soft_options(TreeMethod::Multipole, 0.5, 3),
          soft_options(TreeMethod::Expansion, 0.5, 6)}) {
      CAPTURE(eps, static_cast<int>(options.method));
      gravity.compute(b.size(), b.x, b.m, eps, one.acc, one.pot, options);
      gravity.compute(b.size(), b.x, b.m, each, all.acc, all.pot, options);
      CHECK(soft_error(all, one) < 1e-7);
      CHECK(soft_potential_error(all, one) < 1e-7);
      gravity.compute_on(at.size(), at.x, b.size(), b.x, b.m, eps, one_there.acc, one_there.pot,
                         options);
      gravity.compute_on(at.size(), at.x, b.size(), b.x, b.m, each, all_there.acc, all_there.pot,
                         options);
      CHECK(soft_error(all_there, one_there) < 1e-7);
      CHECK(soft_potential_error(all_there, one_there) < 1e-7);
    }
  }
}

TEST_CASE("softening of each particle: trees are as accurate as asked for") {
  const std::size_t n = 6000;
  Device device = Device::open("native");
  Gravity gravity(device);
  for (const char* name : {"plummer", "two clusters", "charges"}) {
    const Bodies b = bodies_named(name, n);
    for (const double largest : {1e-3, 0.05, 1.0, 30.0}) {
      const std::vector<double> eps = lengths(n, largest);
      SoftSums right(n), got(n);
      gravity.compute(n, b.x, b.m, eps, right.acc, right.pot);
      for (const TreeMethod method :
           {TreeMethod::Monopole, TreeMethod::Multipole, TreeMethod::Expansion})
        for (const double wanted : {1e-2, 1e-4}) {
          TreeOptions options;
          options.method = method;
          options.accuracy = wanted;
          CAPTURE(name, largest, static_cast<int>(method), wanted);
          got.report = gravity.compute(n, b.x, b.m, eps, got.acc, got.pot, options);
          CHECK(got.report.error <= wanted);
          CHECK(soft_error(got, right) <= wanted);
          CHECK(soft_potential_error(got, right) <= 10 * wanted);
        }
    }
  }
}

TEST_CASE("softening of each particle: few large ones among small ones do not spoil a tree") {
  const std::size_t n = 4000;
  const Bodies b = plummer(n);
  Device device = Device::open("native");
  Gravity gravity(device);
  std::vector<double> eps(n, 1e-3);
  for (std::size_t i = 0; i < n; i += 200) eps[i] = 2;
  const SoftSums right = soft_oracle(n, b.x.data(), eps.data(), b, eps, true);
  SoftSums got(n);
  for (const TreeOptions& options :
       {soft_options(TreeMethod::Monopole, 0.3), soft_options(TreeMethod::Multipole, 0.4, 4),
        soft_options(TreeMethod::Expansion, 0.5, 8)}) {
    CAPTURE(static_cast<int>(options.method));
    got.report = gravity.compute(n, b.x, b.m, eps, got.acc, got.pot, options);
    CHECK(got.report.method == options.method);
    CHECK(soft_error(got, right) < 1e-3);
    CHECK(soft_potential_error(got, right) < 1e-3);
    CHECK(got.report.error < 3 * soft_error(got, right) + 1e-7);
  }
}

TEST_CASE("softening of each particle: wrong lengths are refused with their particle") {
  const Bodies b = plummer(20);
  Device device = Device::open("native");
  Gravity gravity(device);
  SoftSums s(20);
  const auto message = [&](const Softening& eps) -> std::string {
    try {
      gravity.compute(20, b.x, b.m, eps, s.acc, s.pot);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  std::vector<double> eps(20, 0.1);
  CHECK(message(eps) == "no error");
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    eps[7] = wrong;
    CHECK(contains(message(eps), "particle 7: its softening must be finite and not negative"));
  }
  eps[7] = -1e-9;
  CHECK(contains(message(eps), "not negative, it is -1e-09"));
  for (const double wrong : {1e200, 1e-160}) {
    eps[7] = wrong;
    CHECK(contains(message(eps), "particle 7: its softening has a square that is out of"));
  }
  eps.assign(20, 0.1);
  CHECK(contains(message(Softening(eps, eps)), "targets that are not the sources"));
  eps.resize(19);
  CHECK(contains(message(eps), "eps"));
  const double* const none = nullptr;
  CHECK(contains(message(none), "null pointer"));
}
