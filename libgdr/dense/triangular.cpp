#include "libgdr/dense/triangular.hpp"

#include <algorithm>
#include <array>

#include "libgdr/dense/host/kernels.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

constexpr std::size_t small = smallest_triangle;
/// Vectors per task of a thread.
constexpr std::size_t strip = 64;

/// The triangle in the order of substitution: unknown i depends on those before it. Element (i, j),
/// j <= i, at i + j * small.
using Ordered = std::array<double, small * small>;

struct Substitution {
  std::size_t n;
  Ordered t;
  bool forward;  ///< unknown 0 first, else the last one
  bool unit;
  std::size_t place(std::size_t i) const noexcept { return forward ? i : n - 1 - i; }
};

Substitution substitution(Side side, const TriangularMatrix& t) noexcept {
  Substitution s{t.n, {}, (side == Side::Left) == t.lower, t.unit};
  for (std::size_t j = 0; j < t.n; ++j)
    for (std::size_t i = t.unit ? j + 1 : j; i < t.n; ++i)
      s.t[i + j * small] = side == Side::Left ? element(t.view, s.place(i), s.place(j))
                                              : element(t.view, s.place(j), s.place(i));
  return s;
}

/// Solves one column of B, whose unknowns are contiguous.
void solve_column(const Substitution& s, double* b) noexcept {
  const HostKernels& host = host_kernels();
  std::array<double, small> x;
  for (std::size_t i = 0; i < s.n; ++i) x[i] = b[s.place(i)];
  for (std::size_t j = 0; j < s.n; ++j) {
    if (!s.unit) x[j] /= s.t[j + j * small];
    host.subtract_scaled(x.data() + j + 1, s.t.data() + j + 1 + j * small, x[j], s.n - j - 1);
  }
  for (std::size_t i = 0; i < s.n; ++i) b[s.place(i)] = x[i];
}

/// Solves some rows of B; unknown i of all rows is a column.
void solve_rows(const Substitution& s, double* b, std::size_t stride, std::size_t rows) noexcept {
  const HostKernels& host = host_kernels();
  for (std::size_t j = 0; j < s.n; ++j) {
    double* const x = b + s.place(j) * stride;
    if (!s.unit) host.divide(x, s.t[j + j * small], rows);
    for (std::size_t i = j + 1; i < s.n; ++i)
      host.subtract_scaled(b + s.place(i) * stride, x, s.t[i + j * small], rows);
  }
}

void substitute(Side side, const TriangularMatrix& t, std::size_t others,
                const MatrixView<double>& b, unsigned threads) {
  const Substitution s = substitution(side, t);
  const auto strips = static_cast<std::ptrdiff_t>((others + strip - 1) / strip);
#pragma omp parallel for num_threads(static_cast <int>(threads)) if (strips > 16)
  for (std::ptrdiff_t k = 0; k < strips; ++k) {
    const std::size_t first = static_cast<std::size_t>(k) * strip;
    const std::size_t count = std::min(strip, others - first);
    if (side == Side::Right) {
      solve_rows(s, b.data + first, b.stride, count);
    } else {
      for (std::size_t c = first; c < first + count; ++c) solve_column(s, b.data + c * b.stride);
    }
  }
}

}  // namespace

void solve_triangle(Side side, const TriangularMatrix& t, std::size_t others,
                    const MatrixView<double>& b, const Subtract& subtract, unsigned threads) {
  if (t.n == 0 || others == 0) return;
  if (t.n <= small) return substitute(side, t, others, b, threads);
  const std::size_t half = aligned_half(t.n, small), rest = t.n - half;
  const bool left = side == Side::Left;
  const TriangularMatrix upper_left{half, t.lower, t.unit, t.view};
  const TriangularMatrix lower_right{rest, t.lower, t.unit, submatrix(t.view, half, half)};
  const MatrixView<const double> corner =
      t.lower ? submatrix(t.view, half, 0) : submatrix(t.view, 0, half);
  const MatrixView<double> b_half = b;
  const MatrixView<double> b_rest = left ? submatrix(b, half, 0) : submatrix(b, 0, half);

  // The half that does not depend on the other one is solved first.
  const bool forward = left == t.lower;
  const TriangularMatrix& first = forward ? upper_left : lower_right;
  const TriangularMatrix& second = forward ? lower_right : upper_left;
  const MatrixView<double>& known = forward ? b_half : b_rest;
  const MatrixView<double>& open = forward ? b_rest : b_half;
  solve_triangle(side, first, others, known, subtract, threads);
  if (left) {
    subtract(second.n, others, first.n, corner, const_view(known), open);
  } else {
    subtract(others, second.n, first.n, const_view(known), corner, open);
  }
  solve_triangle(side, second, others, open, subtract, threads);
}

}  // namespace gdr::dense
