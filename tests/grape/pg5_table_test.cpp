// Phantom-GRAPE's functions of libg5: laws of the distance for all devices, and softening of all
// particles.
#include <cmath>
#include <random>
#include <vector>

#include "grape/g5_calls.hpp"

namespace {

struct TableParticles {
  std::vector<double> x, m, eps2;
  explicit TableParticles(int n) : x(3 * static_cast<std::size_t>(n)) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (double& value : x) value = uniform(random);
    for (int k = 0; k < n; ++k) {
      m.push_back(uniform(random));
      eps2.push_back(0.01 * uniform(random));
    }
  }
  double (*rows())[3] { return reinterpret_cast<double(*)[3]>(x.data()); }
  int size() const { return static_cast<int>(m.size()); }
};

/// Sums in long double of m f(d, i, j) d.
template <typename Law>
std::vector<double> sums(const TableParticles& p, const Law& law) {
  std::vector<double> acc(p.x.size());
  for (std::size_t i = 0; i < p.m.size(); ++i) {
    long double a[3]{};
    for (std::size_t j = 0; j < p.m.size(); ++j) {
      long double d[3], r2 = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        d[k] = static_cast<long double>(p.x[3 * j + k]) - p.x[3 * i + k];
        r2 += d[k] * d[k];
      }
      if (i == j) continue;
      const long double f = p.m[j] * law(std::sqrt(r2), i, j);
      for (std::size_t k = 0; k < 3; ++k) a[k] += f * d[k];
    }
    for (std::size_t k = 0; k < 3; ++k) acc[3 * i + k] = static_cast<double>(a[k]);
  }
  return acc;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

std::vector<double> force(TableParticles& p, std::vector<double>& pot, int id = 0) {
  std::vector<double> acc(p.x.size(), -1);
  pot.assign(p.m.size(), -1);
  g5_set_nMC(id, p.size());
  g5_set_xmjMC(id, 0, p.size(), p.rows(), p.m.data());
  g5_calculate_force_on_xMC(id, p.rows(), reinterpret_cast<double(*)[3]>(acc.data()), pot.data(),
                            p.size());
  return acc;
}

/// The force of two spheres with the density 1 - 2 r/a, the diameter a and masses of 1 over their
/// distance, by integration: the derivative of the energy of one, in shells, in the potential of
/// the other.
long double s2_pair_by_integration(long double a, long double r) {
  const long double radius = a / 2, r3 = radius * radius * radius;
  // The mass within u radii is 4 u^3 - 3 u^4.
  const auto potential = [&](long double q) {
    if (q >= radius) return -1 / q;
    return -1 / radius - 2 * (radius * radius - q * q) / r3 + (r3 - q * q * q) / (r3 * radius);
  };
  // The mean of the potential over a shell of radius s whose centre is at this distance.
  const auto energy = [&](long double distance) {
    long double sum = 0;
    const int shells = 60, angles = 60;
    for (int k = 0; k < shells; ++k) {
      const long double s = radius * (k + 0.5L) / shells;
      const long double mass = 12 / r3 * s * s * (1 - s / radius) * radius / shells;
      for (int n = 0; n < angles; ++n) {
        const long double c = -1 + 2 * (n + 0.5L) / angles;
        sum += mass * potential(std::sqrt(distance * distance + s * s + 2 * distance * s * c)) /
               angles;
      }
    }
    return sum;
  };
  const long double h = 1e-3L * a;
  return (energy(r + h) - energy(r - h)) / (2 * h) / r;
}

double yukawa(double r) { return std::exp(-4 * r) * (1 + 4 * r) / (r * r * r); }
double cut(double r) { return 1 / (r * r * r + 0.001); }
double undefined(double r) { return r < 0.1 ? std::nan("") : 1; }

}  // namespace

TEST_CASE("pg5_gen_force_table replaces gravity by a law of the distance on all devices") {
  TableParticles p(40);
  std::vector<double> pot;
  const std::vector<double> gravity = force(p, pot);
  pg5_gen_force_table(cut, 0.5);
  for (const int id : {0, 3}) {
    const std::vector<double> found = force(p, pot, id);
    const auto right = sums(p, [](long double r, auto, auto) -> long double {
      return r < 0.5L ? cut(static_cast<double>(r)) : 0;
    });
    CHECK(largest_difference(found, right) < 1e-10);
    CHECK(pot == std::vector<double>(p.m.size(), 0.0));
  }
  pg5_gen_force_table(yukawa, 2);
  CHECK(largest_difference(force(p, pot), sums(p, [](long double r, auto, auto) -> long double {
                             return yukawa(static_cast<double>(r));
                           })) < 1e-6);
  pg5_gen_force_table(nullptr, 0);
  CHECK(force(p, pot) == gravity);
  g5_closeMC(3);
}

TEST_CASE("pg5_gen_s2_force_table is the force of S2 spheres minus that of larger ones") {
  TableParticles p(12);
  std::vector<double> pot;
  const double pp = 0.3, pm = 0.9;
  pg5_gen_s2_force_table(pp, pm);
  const std::vector<double> found = force(p, pot);
  pg5_gen_force_table(nullptr, 0);
  const auto right = sums(p, [&](long double r, auto, auto) -> long double {
    return r < pm ? s2_pair_by_integration(pp, r) - s2_pair_by_integration(pm, r) : 0;
  });
  double size = 0;
  for (const double a : right) size = std::max(size, std::abs(a));
  CHECK(largest_difference(found, right) < 2e-3 * size);
}

TEST_CASE("a law that is not finite or has no cut-off is refused, and the former one remains") {
  TableParticles p(5);
  std::vector<double> pot;
  pg5_gen_force_table(cut, 0.5);
  const std::vector<double> before = force(p, pot);
  const auto refused = [&](auto call) {
    std::string text = grape_test::messages_of(call);
    CHECK(force(p, pot) == before);
    return text;
  };
  CHECK_THAT(refused([] { pg5_gen_force_table(cut, 0); }),
             Catch::Contains("pg5_gen_force_table: the cut-off is 0;"));
  CHECK_THAT(refused([] { pg5_gen_force_table(undefined, 1); }), Catch::Contains("not finite"));
  CHECK_THAT(refused([] { pg5_gen_s2_force_table(-1, 1); }), Catch::Contains("diameter"));
  CHECK_THAT(refused([] { pg5_gen_s2_force_table(0.1, INFINITY); }), Catch::Contains("diameter"));
  CHECK_THAT(refused([] { pg5_gen_s2_force_table(0.9, 0.3); }),
             Catch::Contains("sft_for_pp is 0.9; it must be less than sft_for_pm, which is 0.3"));
  CHECK_THAT(refused([] { pg5_gen_s2_force_table(0.3, 0.3); }), Catch::Contains("less than"));
  pg5_gen_force_table(nullptr, 0);
}

TEST_CASE("g5_set_xmj0 and g5_calculate_force_on_x0 add the squares of both softenings") {
  TableParticles p(30);
  std::vector<double> acc(p.x.size()), pot(p.m.size());
  pg5_set_xscale(1024);
  const auto right = sums(p, [&](long double r, std::size_t i, std::size_t j) -> long double {
    const long double r2 = r * r + p.eps2[i] + p.eps2[j];
    return 1 / (r2 * std::sqrt(r2));
  });
  const auto rows = reinterpret_cast<double(*)[3]>(acc.data());
  g5_set_n(p.size());
  g5_set_xmj0(0, p.size(), p.rows(), p.m.data(), p.eps2.data());
  g5_calculate_force_on_x0(p.rows(), rows, pot.data(), p.size(), p.eps2.data());
  CHECK(largest_difference(acc, right) < 1e-9);
  acc.assign(acc.size(), 0);
  g5_set_nMC(5, p.size());
  g5_set_xmjMC0(5, 0, p.size(), p.rows(), p.m.data(), p.eps2.data());
  g5_calculate_force_on_xMC0(5, p.rows(), rows, pot.data(), p.size(), p.eps2.data());
  CHECK(largest_difference(acc, right) < 1e-9);
  g5_closeMC(5);
}
