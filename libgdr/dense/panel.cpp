#include "libgdr/dense/panel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libgdr/dense/host/kernels.hpp"
#include "libgdr/dense/triangular.hpp"
#include "libgdr/dense/updates.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

/// Index of the largest element, the first of equal ones. A NaN is selected only at index 0, as in
/// the BLAS.
std::size_t largest(const double* column, std::size_t m) noexcept {
  std::size_t at = 0;
  for (std::size_t r = 1; r < m; ++r)
    if (std::fabs(column[r]) > std::fabs(column[at])) at = r;
  return at;
}

std::optional<std::size_t> eliminate(std::size_t m, const MatrixView<double>& a,
                                     std::span<std::int64_t> pivots) noexcept {
  const HostKernels& host = host_kernels();
  std::optional<std::size_t> zero;
  const std::size_t n = pivots.size();
  for (std::size_t j = 0; j < n; ++j) {
    double* const column = a.data + j * a.stride;
    const std::size_t pivot = j + largest(column + j, m - j);
    pivots[j] = static_cast<std::int64_t>(pivot);
    if (column[pivot] == 0) {
      if (!zero) zero = j;
      continue;  // the column is zero: nothing to eliminate
    }
    if (pivot != j)
      for (std::size_t c = 0; c < n; ++c)
        std::swap(a.data[j + c * a.stride], a.data[pivot + c * a.stride]);
    host.divide(column + j + 1, column[j], m - j - 1);
    for (std::size_t c = j + 1; c < n; ++c) {
      double* const other = a.data + c * a.stride;
      host.subtract_scaled(other + j + 1, column + j + 1, other[j], m - j - 1);
    }
  }
  return zero;
}

template <typename Exchange>
void each_column(std::size_t n, const MatrixView<double>& a, unsigned threads,
                 const Exchange& exchange) {
  const auto columns = static_cast<std::ptrdiff_t>(n);
#pragma omp parallel for num_threads(static_cast <int>(threads)) if (columns > 256)
  for (std::ptrdiff_t c = 0; c < columns; ++c)
    exchange(a.data + static_cast<std::size_t>(c) * a.stride);
}

}  // namespace

void exchange_rows(std::size_t n, const MatrixView<double>& a, std::span<const std::int64_t> pivots,
                   unsigned threads) {
  each_column(n, a, threads, [&](double* column) {
    for (std::size_t i = 0; i < pivots.size(); ++i)
      std::swap(column[i], column[static_cast<std::size_t>(pivots[i])]);
  });
}

void restore_rows(std::size_t n, const MatrixView<double>& a, std::span<const std::int64_t> pivots,
                  unsigned threads) {
  each_column(n, a, threads, [&](double* column) {
    for (std::size_t i = pivots.size(); i-- > 0;)
      std::swap(column[i], column[static_cast<std::size_t>(pivots[i])]);
  });
}

std::optional<std::size_t> factor_panel(std::size_t m, const MatrixView<double>& a,
                                        std::span<std::int64_t> pivots, unsigned threads) {
  const std::size_t n = pivots.size();
  if (n <= narrowest_panel) return eliminate(m, a, pivots);
  const auto subtract = [threads](std::size_t rows, std::size_t columns, std::size_t inner,
                                  const auto& x, const auto& y, const auto& z) {
    subtract_on_host(rows, columns, inner, x, y, z, threads);
  };
  const std::size_t half = aligned_half(n, narrowest_panel), rest = n - half;
  const auto upper = pivots.first(half), lower = pivots.subspan(half);
  const MatrixView<double> right = submatrix(a, 0, half), corner = submatrix(a, half, half);
  std::optional<std::size_t> zero = factor_panel(m, a, upper, threads);
  exchange_rows(rest, right, upper, threads);
  solve_triangle(Side::Left, {half, true, true, const_view(a)}, rest, right, subtract, threads);
  subtract(m - half, rest, half, const_view(submatrix(a, half, 0)), const_view(right), corner);
  const std::optional<std::size_t> zero_below = factor_panel(m - half, corner, lower, threads);
  exchange_rows(half, submatrix(a, half, 0), lower, threads);
  for (std::int64_t& pivot : lower) pivot += static_cast<std::int64_t>(half);
  if (!zero && zero_below) zero = half + *zero_below;
  return zero;
}

}  // namespace gdr::dense
