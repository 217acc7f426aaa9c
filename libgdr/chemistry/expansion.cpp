#include "libgdr/chemistry/expansion.hpp"

#include <cmath>

namespace gdr::chemistry {
namespace {

/// Calls work(first monomial, second monomial, Hermite index, coefficient) for all of them.
template <typename Work>
void for_all(const Expansion& x, const Work& work) {
  const std::vector<Order>& orders = hermite_orders();
  const std::size_t na = hermite_count(x.la), nb = hermite_count(x.lb);
  for (std::size_t a = 0; a < na; ++a) {
    for (std::size_t b = 0; b < nb; ++b) {
      const Order &i = orders[a], &j = orders[b];
      const double *ex = x.e[0][i[0]][j[0]], *ey = x.e[1][i[1]][j[1]], *ez = x.e[2][i[2]][j[2]];
      for (unsigned t = 0; t <= i[0] + j[0]; ++t)
        for (unsigned u = 0; u <= i[1] + j[1]; ++u)
          for (unsigned v = 0; v <= i[2] + j[2]; ++v)
            work(a * nb + b, hermite_index(t, u, v), ex[t] * ey[u] * ez[v]);
    }
  }
}

}  // namespace

double overlap_exponent(const Point& a_position, double a, const Point& b_position, double b) {
  double square = 0;
  for (std::size_t k = 0; k < 3; ++k)
    square += (a_position[k] - b_position[k]) * (a_position[k] - b_position[k]);
  return a * b / (a + b) * square;
}

Expansion::Expansion(const Point& a_position, const Site& a, const Point& b_position, const Site& b)
    : p(a.exponent + b.exponent), la(a.l), lb(b.l) {
  const double half = 0.5 / p;
  for (std::size_t k = 0; k < 3; ++k) {
    const double separation = a_position[k] - b_position[k];
    centre[k] = a_position[k] - b.exponent / p * separation;
    const double from_a = -b.exponent / p * separation, from_b = a.exponent / p * separation;
    auto& row = e[k];
    // (i, j) from (i - 1, j) or (i, j - 1): one more factor x_A or x_B.
    const auto raise = [&](const double* lower, unsigned order, double shift, double* made) {
      for (unsigned t = 0; t <= max_pair; ++t) {
        made[t] = 0;
        if (t > 0) made[t] += half * lower[t - 1];
        if (t < order) made[t] += shift * lower[t];
        if (t + 1 < order) made[t] += (t + 1) * lower[t + 1];
      }
    };
    for (double& value : row[0][0]) value = 0;
    row[0][0][0] = std::exp(-a.exponent * b.exponent / p * separation * separation);
    for (unsigned i = 0; i <= la; ++i) {
      if (i > 0) raise(row[i - 1][0], i, from_a, row[i][0]);
      for (unsigned j = 1; j <= lb; ++j) raise(row[i][j - 1], i + j, from_b, row[i][j]);
    }
  }
}

void Expansion::of_monomials(double* hermite) const {
  const std::size_t each = hermite_count(l());
  for_all(*this,
          [&](std::size_t ab, std::size_t h, double factor) { hermite[ab * each + h] = factor; });
}

}  // namespace gdr::chemistry
