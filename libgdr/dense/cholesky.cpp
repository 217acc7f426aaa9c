// Cholesky by halves: the first half is factorised, what stands beside it becomes a solution of
// triangular equations, its product with itself is taken off the second half. The products of the
// large halves go to the device.
#include <algorithm>
#include <cmath>
#include <vector>

#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/triangular.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

/// Rows of a triangle that the host factorises column by column.
constexpr std::size_t small = 32;
/// Rows of a square on the diagonal that is multiplied as a whole, although half of it counts: one
/// tile of the device.
constexpr std::size_t square = 256;

/// Element (row, column) of the lower triangle, or its mirror image in the upper one.
double& stored(Triangle triangle, const MatrixView<double>& a, std::size_t row,
               std::size_t column) noexcept {
  return triangle == Triangle::Lower ? a.data[row + column * a.stride]
                                     : a.data[column + row * a.stride];
}

std::optional<std::size_t> by_columns(Triangle triangle, std::size_t n,
                                      const MatrixView<double>& a) {
  for (std::size_t j = 0; j < n; ++j) {
    double& pivot = stored(triangle, a, j, j);
    if (!(pivot > 0)) return j;  // nor is a NaN positive
    pivot = std::sqrt(pivot);
    for (std::size_t r = j + 1; r < n; ++r) stored(triangle, a, r, j) /= pivot;
    for (std::size_t c = j + 1; c < n; ++c)
      for (std::size_t r = c; r < n; ++r)
        stored(triangle, a, r, c) -= stored(triangle, a, r, j) * stored(triangle, a, c, j);
  }
  return {};
}

/// C -= op(A) op(A)^T, of which only a triangle is stored; op(A) has n rows and k columns.
void subtract_square(Triangle triangle, std::size_t n, std::size_t k,
                     const MatrixView<const double>& a, const MatrixView<double>& c,
                     Updates& updates) {
  if (n > square) {
    const std::size_t half = half_of(n, square), rest = n - half;
    const MatrixView<const double> below = from(a, half, 0);
    subtract_square(triangle, half, k, a, c, updates);
    if (triangle == Triangle::Lower) {
      updates.subtract(rest, half, k, below, turned(a), from(c, half, 0));
    } else {
      updates.subtract(half, rest, k, a, turned(below), from(c, 0, half));
    }
    return subtract_square(triangle, rest, k, below, from(c, half, half), updates);
  }
  std::vector<double> whole(n * n, 0.0);
  updates.subtract(n, n, k, a, turned(a), {whole.data(), n});
  const MatrixView<double> from_whole{whole.data(), n};
  for (std::size_t column = 0; column < n; ++column)
    for (std::size_t row = column; row < n; ++row)
      stored(triangle, c, row, column) += stored(triangle, from_whole, row, column);
}

}  // namespace

std::optional<std::size_t> factor_cholesky(Triangle triangle, std::size_t n,
                                           const MatrixView<double>& a, Updates& updates) {
  if (n <= small) return by_columns(triangle, n, a);
  const std::size_t half = half_of(n, small), rest = n - half;
  if (const auto stop = factor_cholesky(triangle, half, a, updates)) return stop;
  const bool lower = triangle == Triangle::Lower;
  const MatrixView<double> beside = lower ? from(a, half, 0) : from(a, 0, half);
  const MatrixView<const double> known = readable(a), other = readable(beside);
  const auto subtract = [&](std::size_t rows, std::size_t columns, std::size_t inner, const auto& x,
                            const auto& y,
                            const auto& z) { updates.subtract(rows, columns, inner, x, y, z); };
  // L21 L11^T = A21, or U11^T U12 = A12.
  solve_triangle(lower ? Side::Right : Side::Left, {half, !lower, false, turned(known)}, rest,
                 beside, subtract, updates.threads());
  subtract_square(triangle, rest, half, lower ? other : turned(other), from(a, half, half),
                  updates);
  const auto stop = factor_cholesky(triangle, rest, from(a, half, half), updates);
  return stop ? std::optional(half + *stop) : stop;
}

}  // namespace gdr::dense
