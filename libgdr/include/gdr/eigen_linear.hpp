// Systems of linear equations of Eigen matrices on a device; included by <gdr/eigen.hpp>.
//
//   gdr::LinearSolver solver(device);
//   Eigen::VectorXd x = gdr::solve(solver, a, b);           // a and b are unchanged
//   gdr::Pivots pivots;
//   if (gdr::lu(solver, a, pivots)) ...                     // singular
//   gdr::solve(solver, a, pivots, b);                       // b is overwritten with the solution
//
// Written matrices and factors are accessed in place: column-major matrices, maps and blocks.
// Functions throw Error (Usage) for mismatched shapes, and the errors of LinearSolver.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "gdr/error.hpp"
#include "gdr/linear.hpp"

namespace gdr {

/// Row exchanges of a factorisation: row i with row pivots(i), from 0.
using Pivots = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;

namespace eigen {

using Written = Eigen::Ref<Eigen::MatrixXd>;
using Read = Eigen::Ref<const Eigen::MatrixXd>;

inline std::size_t count(Eigen::Index n) { return static_cast<std::size_t>(n); }

template <typename Scalar, typename Matrix>
MatrixView<Scalar> by_columns(Matrix& x, Transpose transpose = Transpose::No) {
  return {x.data(), count(x.outerStride() > 0 ? x.outerStride() : 1), transpose};
}

inline void need(bool fits, const char* what, const Read& a, Eigen::Index rows,
                 Eigen::Index columns) {
  if (!fits)
    throw Error(ErrorCategory::Usage, std::string(what) + ": the matrix is " +
                                          std::to_string(a.rows()) + " x " +
                                          std::to_string(a.cols()) + ", the other side " +
                                          std::to_string(rows) + " x " + std::to_string(columns));
}

}  // namespace eigen

/// P A = L U in place with partial pivoting; `pivots` gets min(rows, columns) elements. Returns the
/// first pivot that is exactly zero, if any (see LinearSolver::lu).
inline std::optional<std::size_t> lu(LinearSolver& solver, eigen::Written a, Pivots& pivots) {
  pivots.resize(std::min(a.rows(), a.cols()));
  return solver.lu(eigen::count(a.rows()), eigen::count(a.cols()), eigen::by_columns<double>(a),
                   {pivots.data(), eigen::count(pivots.size())});
}

/// Solves op(A) X = B from the factors of a square matrix; B is overwritten with X.
inline void solve(LinearSolver& solver, const eigen::Read& lu, const Pivots& pivots,
                  eigen::Written b, Transpose transpose = Transpose::No) {
  eigen::need(lu.rows() == lu.cols() && b.rows() == lu.rows(), "solve", lu, b.rows(), b.cols());
  solver.solve(eigen::count(lu.rows()), eigen::count(b.cols()),
               eigen::by_columns<const double>(lu, transpose),
               {pivots.data(), eigen::count(pivots.size())}, eigen::by_columns<double>(b));
}

/// The solution X of A X = B, any expressions of double. Throws Error (Input) if A is singular.
template <typename DerivedA, typename DerivedB>
Eigen::Matrix<double, Eigen::Dynamic, DerivedB::ColsAtCompileTime> solve(
    LinearSolver& solver, const Eigen::MatrixBase<DerivedA>& a,
    const Eigen::MatrixBase<DerivedB>& b) {
  Eigen::MatrixXd factors = a;
  Eigen::Matrix<double, Eigen::Dynamic, DerivedB::ColsAtCompileTime> x = b;
  eigen::need(a.rows() == a.cols() && b.rows() == a.rows(), "solve", factors, b.rows(), b.cols());
  Pivots pivots;
  if (const auto zero = lu(solver, factors, pivots))
    throw Error(ErrorCategory::Input,
                "the matrix is singular: pivot " + std::to_string(*zero) + " is zero");
  solve(solver, factors, pivots, x);
  return x;
}

/// A = L L^T or U^T U of a symmetric, positive definite matrix, in place. Returns the first pivot
/// that is not positive, if any (see LinearSolver::cholesky).
inline std::optional<std::size_t> cholesky(LinearSolver& solver, Triangle triangle,
                                           eigen::Written a) {
  eigen::need(a.rows() == a.cols(), "cholesky", a, a.rows(), a.cols());
  return solver.cholesky(triangle, eigen::count(a.rows()), eigen::by_columns<double>(a));
}

/// Solves A X = B from the Cholesky factor of A; B is overwritten with X.
inline void solve_cholesky(LinearSolver& solver, Triangle triangle, const eigen::Read& factor,
                           eigen::Written b) {
  eigen::need(factor.rows() == factor.cols() && b.rows() == factor.rows(), "solve_cholesky", factor,
              b.rows(), b.cols());
  solver.solve_cholesky(triangle, eigen::count(factor.rows()), eigen::count(b.cols()),
                        eigen::by_columns<const double>(factor), eigen::by_columns<double>(b));
}

/// op(A) X = alpha B (Side::Left) or X op(A) = alpha B for triangular A; B is overwritten with X.
inline void solve_triangular(LinearSolver& solver, Side side, Triangle triangle, Diagonal diagonal,
                             const eigen::Read& a, eigen::Written b, double alpha = 1,
                             Transpose transpose = Transpose::No) {
  eigen::need(a.rows() == a.cols() && a.rows() == (side == Side::Left ? b.rows() : b.cols()),
              "solve_triangular", a, b.rows(), b.cols());
  solver.solve_triangular(side, triangle, diagonal, eigen::count(b.rows()), eigen::count(b.cols()),
                          alpha, eigen::by_columns<const double>(a, transpose),
                          eigen::by_columns<double>(b));
}

/// y = alpha op(A) x + beta y. beta = 0 does not read y.
inline void multiply(LinearSolver& solver, Eigen::Ref<Eigen::VectorXd> y, const eigen::Read& a,
                     const Eigen::Ref<const Eigen::VectorXd>& x, double alpha = 1, double beta = 0,
                     Transpose transpose = Transpose::No) {
  const bool flipped = transpose == Transpose::Yes;
  const Eigen::Index m = flipped ? a.cols() : a.rows(), n = flipped ? a.rows() : a.cols();
  eigen::need(y.size() == m && x.size() == n, "multiply", a, y.size(), x.size());
  solver.multiply(eigen::count(m), eigen::count(n), alpha,
                  eigen::by_columns<const double>(a, transpose), {x.data(), 1}, beta,
                  {y.data(), 1});
}

}  // namespace gdr
