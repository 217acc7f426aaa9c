// Calls of libg5, and what they must give: plain loops in double precision.
#pragma once

#include <cmath>
#include <vector>

#include "grape/support.hpp"
#include "libgdr/compat/grape/gp5util.h"
#include "support/catch.hpp"

namespace grape_test::g5 {

struct Sums {
  explicit Sums(std::size_t n) : acc(n), pot(n) {}
  std::vector<Row> acc;
  std::vector<double> pot;
};

/// The definition, with a factor of force and potential for each softened distance.
template <typename Force, typename Potential>
inline Sums expected(const Particles& p, std::size_t nj, const std::vector<Row>& x,
                     const std::vector<double>& eps2, const std::vector<double>& source_eps2,
                     Force force, Potential potential) {
  Sums s(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < nj; ++j) {
      Row d{};
      double r2 = eps2[i] + (source_eps2.empty() ? 0 : source_eps2[j]);
      for (std::size_t c = 0; c < 3; ++c) {
        d[c] = p.x[j][c] - x[i][c];
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const double r = std::sqrt(r2);
      for (std::size_t c = 0; c < 3; ++c) s.acc[i][c] += p.mass[j] / (r2 * r) * d[c] * force(r);
      s.pot[i] += p.mass[j] / r * potential(r);
    }
  return s;
}

inline Sums expected(const Particles& p, std::size_t nj, const std::vector<Row>& x,
                     const std::vector<double>& eps2, const std::vector<double>& source_eps2 = {}) {
  const auto one = [](double) { return 1.0; };
  return expected(p, nj, x, eps2, source_eps2, one, one);
}

inline void check(const Sums& got, const Sums& right, double tolerance) {
  CHECK(difference(got.acc, right.acc) < tolerance);
  CHECK(difference(got.pot, right.pot) < tolerance);
}

inline void set_all(int id, Particles& p) {
  const int n = static_cast<int>(p.size());
  g5_set_nMC(id, n);
  g5_set_xmjMC(id, 0, n, rows(p.x), p.mass.data());
}

inline Sums run(int id, std::vector<Row> x) {
  Sums s(x.size());
  g5_set_xiMC(id, static_cast<int>(x.size()), rows(x));
  g5_runMC(id);
  g5_get_forceMC(id, static_cast<int>(x.size()), rows(s.acc), s.pot.data());
  return s;
}

/// Another message, after which none is a repetition: those are not written.
inline void forget_message() {
  messages_of([] { g5_set_nMC(7, -1); });
}

inline std::vector<Row> first(const Particles& p, std::size_t n) {
  return {p.x.begin(), p.x.begin() + static_cast<std::ptrdiff_t>(n)};
}

}  // namespace grape_test::g5
