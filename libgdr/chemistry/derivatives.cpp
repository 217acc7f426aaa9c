#include "libgdr/chemistry/derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gdr::chemistry {
namespace {

constexpr double pi = std::numbers::pi;

/// The moments of the factors of a derivative at x = 0: (t - 1)!! (-1)^(t/2), or 0 for odd t.
double central_factor(unsigned t) {
  if (t % 2 == 1) return 0;
  double factor = 1;
  for (unsigned k = 1; k < t; k += 2) factor *= -static_cast<double>(k);
  return factor;
}

/// Derivatives at x = 0, divided by (2 alpha)^((t + u + v)/2), with the sign (-1)^(order of the
/// second), for two Hermite Gaussians.
struct CentralTable {
  double value[hermite_count(max_pair)][hermite_count(max_pair)];

  CentralTable() {
    const std::vector<Order>& orders = hermite_orders();
    for (std::size_t a = 0; a < hermite_count(max_pair); ++a) {
      for (std::size_t b = 0; b < hermite_count(max_pair); ++b) {
        unsigned total = 0, second = 0;
        double product = 1;
        for (std::size_t k = 0; k < 3; ++k) {
          product *= central_factor(orders[a][k] + orders[b][k]);
          total += orders[a][k] + orders[b][k];
          second += orders[b][k];
        }
        value[a][b] = (second % 2 == 1 ? -product : product) / (total + 1);
      }
    }
  }
};

}  // namespace

void boys_reference(unsigned m, double argument, double* values) {
  const double exponential = std::exp(-argument);
  if (argument > 40) {
    // The asymptotic value; e^-T contributes less than the rounding of F_0 and enters the others.
    values[0] = std::sqrt(pi / argument) / 2;
    for (unsigned k = 0; k < m; ++k)
      values[k + 1] = ((2 * k + 1) * values[k] - exponential) / (2 * argument);
    return;
  }
  // F_m = e^-T sum over i of (2 T)^i/((2 m + 1)(2 m + 3)...(2 m + 2 i + 1)): positive terms.
  double term = 1.0 / (2 * m + 1), sum = term;
  for (unsigned i = 1; term > 1e-17 * sum; ++i) {
    term *= 2 * argument / (2 * (m + i) + 1);
    sum += term;
  }
  values[m] = exponential * sum;
  for (unsigned k = m; k-- > 0;)
    values[k] = (2 * argument * values[k + 1] + exponential) / (2 * k + 1);
}

void derivatives(unsigned order, double alpha, const Point& x, double* values) {
  const std::vector<Order>& orders = hermite_orders();
  double boys[max_total + 1];
  boys_reference(order, alpha * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), boys);
  // Level n holds R^n up to a total of order - n; each is computed from the level above.
  double above[hermite_count(max_total)], level[hermite_count(max_total)];
  for (unsigned n = order + 1; n-- > 0;) {
    level[0] = boys[n] * std::pow(-2 * alpha, n);
    for (std::size_t h = 1; h < hermite_count(order - n); ++h) {
      Order o = orders[h];
      const std::size_t axis = o[0] > 0 ? 0 : o[1] > 0 ? 1 : 2;
      o[axis] -= 1;
      level[h] = x[axis] * above[hermite_index(o[0], o[1], o[2])];
      if (const unsigned factor = o[axis]; factor > 0) {
        o[axis] -= 1;
        level[h] += factor * above[hermite_index(o[0], o[1], o[2])];
      }
    }
    std::copy_n(level, hermite_count(order - n), above);
  }
  std::copy_n(above, hermite_count(order), values);
}

double interaction_factor(double p, double q) {
  return 2 * std::pow(pi, 2.5) / (p * q * std::sqrt(p + q));
}

double self_interaction(unsigned l, double p, const double* hermite) {
  static const CentralTable table;
  const std::vector<Order>& orders = hermite_orders();
  const std::size_t count = hermite_count(l);
  // 2 alpha = p for equal exponents, so that each order contributes a factor sqrt(p).
  double scaled[hermite_count(max_pair)], power[max_pair + 1] = {1};
  for (unsigned k = 1; k <= l; ++k) power[k] = power[k - 1] * std::sqrt(p);
  for (std::size_t a = 0; a < count; ++a)
    scaled[a] = hermite[a] * power[orders[a][0] + orders[a][1] + orders[a][2]];
  double sum = 0;
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) sum += scaled[a] * table.value[a][b] * scaled[b];
  return std::max(0.0, sum * interaction_factor(p, p));
}

}  // namespace gdr::chemistry
