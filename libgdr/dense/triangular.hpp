// Recursive triangular solves: products on the device, small triangles by substitution on the host.
#pragma once

#include <functional>

#include "gdr/linear.hpp"

namespace gdr::dense {

/// A function that computes C -= op(A) op(B).
using Subtract = std::function<void(
    std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
    const MatrixView<const double>& b, const MatrixView<double>& c)>;

/// Largest triangle that is solved by substitution, rows.
constexpr std::size_t smallest_triangle = 32;

/// A triangular matrix op(T) of `n` rows.
struct TriangularMatrix {
  std::size_t n = 0;
  bool lower = true;  ///< whether op(T) is lower triangular
  bool unit = false;  ///< whether the diagonal is implicitly one
  MatrixView<const double> view;
};

/// Solves op(T) X = B (Left) or X op(T) = B (Right); B has `others` columns, or rows, and is
/// overwritten with X.
void solve_triangle(Side side, const TriangularMatrix& t, std::size_t others,
                    const MatrixView<double>& b, const Subtract& subtract, unsigned threads);

}  // namespace gdr::dense
