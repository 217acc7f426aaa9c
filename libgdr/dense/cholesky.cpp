// Blocked Cholesky with look-ahead as in lu.cpp. Panels are factorised recursively on the host:
// factor the first half, solve for the off-diagonal block, subtract its square from the second
// half.
#include <algorithm>
#include <array>
#include <future>
#include <vector>

#include "emulator/host/run_beside.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/host/functions.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

/// Rows of a square on the diagonal that a device computes completely, although only half of it is
/// used: one tile of it.
constexpr std::size_t diagonal_tile = 256;

/// Element (row, column) of the lower triangle, or its mirror image in the upper one.
double& stored_element(Triangle triangle, const MatrixView<double>& a, std::size_t row,
                       std::size_t column) noexcept {
  return triangle == Triangle::Lower ? a.data[row + column * a.stride]
                                     : a.data[column + row * a.stride];
}

/// Factorises a small triangle, which is copied to a lower one.
std::optional<std::size_t> factor_unblocked(Triangle triangle, std::size_t n,
                                            const MatrixView<double>& a, const Host& host) {
  std::array<double, triangle_rows * triangle_rows> lower{};
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t r = j; r < n; ++r)
      lower[r + j * triangle_rows] = stored_element(triangle, a, r, j);
  const std::size_t stop = factor_functions(host).factor_triangle(n, lower.data());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t r = j; r < n; ++r)
      stored_element(triangle, a, r, j) = lower[r + j * triangle_rows];
  return stop < n ? std::optional(stop) : std::nullopt;
}

/// C -= op(A) op(A)^T, of which only a triangle is stored; op(A) has n rows and k columns.
void subtract_square(Triangle triangle, std::size_t n, std::size_t k,
                     const MatrixView<const double>& a, const MatrixView<double>& c,
                     const Subtract& subtract, const Host& host) {
  const bool lower = triangle == Triangle::Lower;
  if (n > diagonal_tile) {
    const std::size_t half = aligned_half(n, diagonal_tile), rest = n - half;
    const MatrixView<const double> below = submatrix(a, half, 0);
    subtract_square(triangle, half, k, a, c, subtract, host);
    if (lower) {
      subtract(rest, half, k, below, transpose_of(a), submatrix(c, half, 0), DirectPart::All);
    } else {
      subtract(half, rest, k, a, transpose_of(below), submatrix(c, 0, half), DirectPart::All);
    }
    return subtract_square(triangle, rest, k, below, submatrix(c, half, half), subtract, host);
  }
  if (host.direct)
    return subtract(n, n, k, a, transpose_of(a), c, lower ? DirectPart::Lower : DirectPart::Upper);
  std::vector<double> whole(n * n, 0.0);
  subtract(n, n, k, a, transpose_of(a), {whole.data(), n}, DirectPart::All);
  for (std::size_t column = 0; column < n; ++column)
    for (std::size_t row = lower ? column : 0; row < (lower ? n : column + 1); ++row)
      c.data[row + column * c.stride] += whole[row + column * n];
}

/// Columns of the stored lower triangle from (row, first) on, or the corresponding rows of the
/// upper one.
MatrixView<double> panel_part(Triangle triangle, const MatrixView<double>& a, std::size_t row,
                              std::size_t first) noexcept {
  return triangle == Triangle::Lower ? submatrix(a, row, first) : submatrix(a, first, row);
}

/// The factor's rows below a panel as op(X).
MatrixView<const double> panel_rows(Triangle triangle, const MatrixView<double>& x) noexcept {
  return triangle == Triangle::Lower ? const_view(x) : transpose_of(const_view(x));
}

/// Solves for the off-diagonal block of a factor of `width` rows: L21 L11^T = A21, or U11^T U12 =
/// A12.
void solve_off_diagonal(Triangle triangle, std::size_t width, std::size_t rest,
                        const MatrixView<double>& factor, const MatrixView<double>& off_diagonal,
                        const Subtract& subtract, const Host& host) {
  const bool lower = triangle == Triangle::Lower;
  solve_triangle(lower ? Side::Right : Side::Left,
                 {width, !lower, false, transpose_of(const_view(factor))}, rest, off_diagonal,
                 subtract, host);
}

std::optional<std::size_t> factor_recursive(Triangle triangle, std::size_t n,
                                            const MatrixView<double>& a, const Subtract& subtract,
                                            const Host& host) {
  if (n <= triangle_rows) return factor_unblocked(triangle, n, a, host);
  const std::size_t half = aligned_half(n, triangle_rows), rest = n - half;
  if (const auto stop = factor_recursive(triangle, half, a, subtract, host)) return stop;
  const MatrixView<double> off_diagonal = panel_part(triangle, a, half, 0),
                           corner = submatrix(a, half, half);
  solve_off_diagonal(triangle, half, rest, a, off_diagonal, subtract, host);
  subtract_square(triangle, rest, half, panel_rows(triangle, off_diagonal), corner, subtract, host);
  const auto stop = factor_recursive(triangle, rest, corner, subtract, host);
  return stop ? std::optional(half + *stop) : stop;
}

}  // namespace

std::optional<std::size_t> factor_cholesky(Triangle triangle, std::size_t n,
                                           const MatrixView<double>& a, std::size_t block,
                                           bool overlap, Updates& updates) {
  const Host& host = updates.host();
  const Subtract in_panels = updates.subtract_in_panels(),
                 on_device_or_host = updates.subtract_function();
  overlap = overlap && !host.direct;
  // A panel with all rows below.
  const auto factor = [&](std::size_t at, std::size_t width) -> std::optional<std::size_t> {
    if (const auto stop = factor_recursive(triangle, width, submatrix(a, at, at), in_panels, host))
      return at + *stop;
    solve_off_diagonal(triangle, width, n - at - width, submatrix(a, at, at),
                       panel_part(triangle, a, at + width, at), in_panels, host);
    return {};
  };

  if (n == 0) return {};
  if (const auto stop = factor(0, std::min(block, n))) return stop;
  for (std::size_t at = 0; at + block < n; at += block) {
    const std::size_t end = at + block, next = std::min(block, n - end), far = end + next;
    const MatrixView<const double> known = panel_rows(triangle, panel_part(triangle, a, end, at));
    const MatrixView<const double> behind = submatrix(known, next, 0);
    subtract_square(triangle, next, block, known, submatrix(a, end, end), on_device_or_host, host);
    if (triangle == Triangle::Lower) {
      updates.subtract(n - far, next, block, behind, transpose_of(known), submatrix(a, far, end));
    } else {
      updates.subtract(next, n - far, block, known, transpose_of(behind), submatrix(a, end, far));
    }
    // The products of a triangle, in a thread that waits for the device. Its future waits for it
    // also if an exception propagates, as it uses the caller's arrays.
    const auto subtract_rest = [&] {
      subtract_square(triangle, n - far, block, behind, submatrix(a, far, far), on_device_or_host,
                      host);
    };
    std::future<void> rest = run_beside(subtract_rest, overlap);
    if (!overlap) rest.get();
    const auto stop = factor(end, next);
    if (overlap) rest.get();
    if (stop) return stop;
  }
  return {};
}

}  // namespace gdr::dense
