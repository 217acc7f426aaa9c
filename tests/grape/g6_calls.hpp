// Calls of libg6, and what they must give: plain loops in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "grape/support.hpp"
#include "libgdr/compat/grape/g6lib.h"
#include "support/catch.hpp"

namespace grape_test::g6 {

/// Results for some targets.
struct Sums {
  explicit Sums(std::size_t n) : acc(n), jerk(n), pot(n), nearest(n) {}
  std::vector<Row> acc, jerk;
  std::vector<double> pot;
  std::vector<int> nearest;
};

/// Targets of a call.
struct Targets {
  std::vector<int> id;
  std::vector<Row> x, v;
  std::vector<double> eps2, h2;
  std::size_t size() const { return id.size(); }
  int count() const { return static_cast<int>(id.size()); }
};

inline void set(int cluster, const Particles& p, std::size_t address, std::size_t k) {
  Row s = p.s[k], j = p.j[k], a = p.a[k], v = p.v[k], x = p.x[k];
  for (std::size_t c = 0; c < 3; ++c) {
    s[c] /= 18;
    j[c] /= 6;
    a[c] /= 2;
  }
  REQUIRE(g6_set_j_particle(cluster, static_cast<int>(address), p.id[k], p.time[k], 0.1, p.mass[k],
                            s.data(), j.data(), a.data(), v.data(), x.data()) == 0);
}

inline void set_all(int cluster, const Particles& p) {
  for (std::size_t k = 0; k < p.size(); ++k) set(cluster, p, k, k);
}

/// The particles first .. first + n - 1 as targets at a time.
inline Targets targets_of(const Particles& p, double time, std::size_t first, std::size_t n,
                          double eps2) {
  const Motion m = at_time(p, time);
  Targets t;
  for (std::size_t k = first; k < first + n; ++k) {
    t.id.push_back(p.id[k]);
    t.x.push_back(m.x[k]);
    t.v.push_back(m.v[k]);
    t.eps2.push_back(eps2);
    t.h2.push_back(0.05);
  }
  return t;
}

inline Sums calculate(int cluster, std::size_t nj, Targets& t) {
  Sums s(t.size());
  std::vector<Row> old(t.size());
  std::vector<double> old_pot(t.size());
  g6calc_firsthalf(cluster, static_cast<int>(nj), t.count(), t.id.data(), rows(t.x), rows(t.v),
                   rows(old), rows(old), old_pot.data(), t.eps2[0], t.h2.data());
  REQUIRE(g6calc_lasthalf2(cluster, static_cast<int>(nj), t.count(), t.id.data(), rows(t.x),
                           rows(t.v), t.eps2[0], t.h2.data(), rows(s.acc), rows(s.jerk),
                           s.pot.data(), s.nearest.data()) == 0);
  return s;
}

/// The same without the nearest particles, which are found among doubles.
inline Sums calculate_sums(int cluster, std::size_t nj, Targets& t) {
  Sums s(t.size());
  g6calc_firsthalf(cluster, static_cast<int>(nj), t.count(), t.id.data(), rows(t.x), rows(t.v),
                   nullptr, nullptr, nullptr, t.eps2[0], t.h2.data());
  REQUIRE(g6calc_lasthalf(cluster, static_cast<int>(nj), t.count(), t.id.data(), rows(t.x),
                          rows(t.v), t.eps2[0], t.h2.data(), rows(s.acc), rows(s.jerk),
                          s.pot.data()) == 0);
  return s;
}

/// The definition.
inline Sums expected(const Particles& p, double time, std::size_t nj, const Targets& t) {
  const Motion m = at_time(p, time);
  Sums s(t.size());
  for (std::size_t i = 0; i < t.size(); ++i) {
    double least = INFINITY;
    s.nearest[i] = -1;
    for (std::size_t j = 0; j < nj; ++j) {
      if (p.id[j] == t.id[i]) continue;
      double d2 = 0, rv = 0;
      Row d{}, w{};
      for (std::size_t c = 0; c < 3; ++c) {
        d[c] = m.x[j][c] - t.x[i][c];
        w[c] = m.v[j][c] - t.v[i][c];
        d2 += d[c] * d[c];
        rv += d[c] * w[c];
      }
      if (d2 < least) {
        least = d2;
        s.nearest[i] = p.id[j];
      }
      const double r2 = d2 + t.eps2[i];
      if (r2 == 0) continue;
      const double r = std::sqrt(r2), f = p.mass[j] / (r2 * r);
      for (std::size_t c = 0; c < 3; ++c) {
        s.acc[i][c] += f * d[c];
        s.jerk[i][c] += f * (w[c] - 3 * rv / r2 * d[c]);
      }
      s.pot[i] -= p.mass[j] / r;
    }
  }
  return s;
}

inline void check(const Sums& got, const Sums& right, double tolerance) {
  const double acc = difference(got.acc, right.acc), jerk = difference(got.jerk, right.jerk);
  INFO("relative to the tolerance: " << acc / tolerance << ", " << jerk / tolerance);
  CHECK(acc < tolerance);
  CHECK(jerk < 10 * tolerance);
  CHECK(difference(got.pot, right.pot) < tolerance);
  CHECK(got.nearest == right.nearest);
}

inline std::vector<int> list_of(int cluster, std::size_t pipe, int capacity = 1000,
                                int status = 0) {
  std::vector<int> list(static_cast<std::size_t>(capacity), 12345);
  int n = -7;
  CHECK(g6_get_neighbour_list(cluster, static_cast<int>(pipe), capacity, &n, list.data()) ==
        status);
  REQUIRE(n >= 0);
  list.resize(static_cast<std::size_t>(n));
  return list;
}

inline std::vector<int> expected_list(const Particles& p, double time, std::size_t nj,
                                      const Targets& t, std::size_t i) {
  const Motion m = at_time(p, time);
  std::vector<int> list;
  for (std::size_t j = 0; j < nj; ++j) {
    double d2 = 0;
    for (std::size_t c = 0; c < 3; ++c) d2 += std::pow(m.x[j][c] - t.x[i][c], 2);
    if (d2 < t.h2[i] && p.id[j] != t.id[i]) list.push_back(p.id[j]);
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace grape_test::g6
