#include "libgdr/chemistry/overlap.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "gdr/error.hpp"

namespace gdr::chemistry {
namespace {

/// The lower triangle L of a matrix L L^T, in place; false if a pivot vanishes.
bool factor(std::size_t n, std::vector<double>& a) {
  const double tiny = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = a.data() + i * n;
    for (std::size_t k = 0; k <= i; ++k) {
      const double* const other = a.data() + k * n;
      const double rest = row[k] - std::inner_product(row, row + k, other, 0.0);
      if (k < i) {
        row[k] = rest / other[k];
      } else if (rest > tiny) {
        row[i] = std::sqrt(rest);
      } else {
        return false;
      }
    }
  }
  return true;
}

/// x := (L L^T)^-1 x.
void solve(std::size_t n, const std::vector<double>& l, std::vector<double>& x) {
  for (std::size_t i = 0; i < n; ++i) {
    const double* const row = l.data() + i * n;
    x[i] = (x[i] - std::inner_product(row, row + i, x.data(), 0.0)) / row[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    const double* const row = l.data() + i * n;
    x[i] /= row[i];
    for (std::size_t k = 0; k < i; ++k) x[k] -= row[k] * x[i];
  }
}

}  // namespace

std::vector<double> overlap_matrix(const PairList& list) {
  // The integral of a Hermite Gaussian is that of its Gaussian for the order 0, and else 0.
  std::vector<double> integrals(list.coefficients(), 0.0),
      matrix(list.functions() * list.functions());
  for (const Pair& pair : list.pairs())
    integrals[pair.hermite] = std::pow(std::numbers::pi / pair.p, 1.5);
  list.contract(integrals, matrix.data());
  return matrix;
}

double min_eigenvalue(std::size_t n, std::vector<double> matrix) {
  if (!factor(n, matrix)) return 0;
  // Inverse iteration, from a vector that no symmetry of a molecule makes orthogonal to the result.
  std::vector<double> x(n);
  double state = 0.5;
  for (double& value : x) {
    state = 3.9 * state * (1 - state) + 1e-3;
    value = state - 0.5;
  }
  double least = 1;
  for (int step = 0; step < 30; ++step) {
    const double norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (double& value : x) value /= norm;
    std::vector<double> next = x;
    solve(n, matrix, next);
    const double found = 1 / std::inner_product(x.begin(), x.end(), next.begin(), 0.0);
    const bool settled = std::abs(found - least) < 1e-3 * found;
    least = found;
    if (settled) break;
    x = std::move(next);
  }
  return least;
}

void check_independence(const PairList& list, double least) {
  const std::size_t n = list.functions();
  if (least <= 0 || n == 0) return;
  std::vector<double> matrix = overlap_matrix(list), norm(n);
  for (std::size_t a = 0; a < n; ++a) {
    if (!(matrix[a * n + a] > 0))
      throw Error(ErrorCategory::Input, fmt::format("function {} of the basis is zero", a));
    norm[a] = 1 / std::sqrt(matrix[a * n + a]);
  }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) matrix[a * n + b] *= norm[a] * norm[b];
  const double found = min_eigenvalue(n, std::move(matrix));
  if (found >= least) return;
  throw Error(
      ErrorCategory::Unsupported,
      fmt::format("the basis is linearly dependent: the smallest eigenvalue of the overlap matrix "
                  "of its functions, scaled to norm one, is {}; values from {:g} on are supported. "
                  "Remove diffuse functions, or atoms and shells at the same place",
                  found > 0 ? fmt::format("{:.1e}", found) : "zero within rounding", least));
}

}  // namespace gdr::chemistry
