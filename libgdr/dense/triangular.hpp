// Triangular equations: halves, whose products go to the device, down to triangles that the host
// solves by substitution.
#pragma once

#include <functional>

#include "gdr/linear.hpp"

namespace gdr::dense {

/// C -= op(A) op(B), somewhere.
using Subtract = std::function<void(
    std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
    const MatrixView<const double>& b, const MatrixView<double>& c)>;

/// Rows of a triangle that is solved by substitution.
constexpr std::size_t smallest_triangle = 32;

/// A triangular matrix op(T) of `n` rows.
struct TriangularMatrix {
  std::size_t n = 0;
  bool lower = true;  ///< op(T), not T
  bool unit = false;
  MatrixView<const double> view;
};

/// op(T) X = B (Left), or X op(T) = B (Right); B has `others` columns, or rows, and becomes X.
void solve_triangle(Side side, const TriangularMatrix& t, std::size_t others,
                    const MatrixView<double>& b, const Subtract& subtract, unsigned threads);

}  // namespace gdr::dense
