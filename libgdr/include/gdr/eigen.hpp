// Products and systems of linear equations of Eigen matrices on a device. Requires Eigen in the
// including program; libgdr does not.
//
//   gdr::MatrixProduct product(device);
//   gdr::multiply(product, c, a.transpose(), b);           // c = a^T b
//   gdr::multiply(product, c.topRows(4), a, b, -1.0, 1.0);  // adds -a b to a block
//   Eigen::MatrixXd d = gdr::multiply(product, a, b);
//
//   gdr::LinearSolver solver(device);
//   Eigen::VectorXd x = gdr::solve(solver, a, b);           // a and b are unchanged
//   gdr::Pivots pivots;
//   if (gdr::lu(solver, a, pivots)) ...                     // singular
//   gdr::solve(solver, a, pivots, b);                       // b is overwritten with the solution
//
// In functions of a LinearSolver, written matrices and factors are accessed in place: column-major
// matrices, maps and blocks. These functions throw Error (Usage) for mismatched shapes, and the
// errors of LinearSolver.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "gdr/error.hpp"
#include "gdr/linear.hpp"
#include "gdr/matrix.hpp"

namespace gdr {
namespace eigen {

template <typename Scalar>
using Plain = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

/// Whether the elements of an expression are in memory: matrices, maps, blocks, Refs and their
/// transposes.
template <typename Derived>
constexpr bool in_memory = (int{Eigen::internal::traits<Derived>::Flags} &
                            Eigen::DirectAccessBit) != 0;

/// The view of an expression in memory if its rows or columns are contiguous, else a null pointer.
/// Element (r, c) is at data[r * down + c * across].
template <typename Scalar>
MatrixView<Scalar> view_of(Scalar* data, Eigen::Index rows, Eigen::Index columns, Eigen::Index down,
                           Eigen::Index across) {
  const auto size = [](Eigen::Index n) { return static_cast<std::size_t>(n); };
  const Eigen::Index one = 1;
  // The strides of a matrix without elements have no meaning.
  if (rows == 0 || columns == 0) return {data, size(std::max(rows, one)), Transpose::No};
  const Eigen::Index column_stride = columns > 1 ? across : std::max(rows, one);
  const Eigen::Index row_stride = rows > 1 ? down : std::max(columns, one);
  if ((down == 1 || rows <= 1) && column_stride >= std::max(rows, one))
    return {data, size(column_stride), Transpose::No};
  if ((across == 1 || columns <= 1) && row_stride >= std::max(columns, one))
    return {data, size(row_stride), Transpose::Yes};
  return {};
}

template <typename Scalar, typename Derived>
MatrixView<Scalar> view_in_memory(Scalar* data, const Derived& x) {
  const bool by_rows = Derived::IsRowMajor != 0;
  return view_of(data, x.rows(), x.cols(), by_rows ? x.outerStride() : x.innerStride(),
                 by_rows ? x.innerStride() : x.outerStride());
}

/// A factor in place, or a copy of it.
template <typename Scalar>
struct Factor {
  MatrixView<const Scalar> view;
  Plain<Scalar> copy;

  template <typename Derived>
  explicit Factor(const Derived& x) {
    if constexpr (in_memory<Derived>) view = view_in_memory(x.data(), x);
    if (view.data == nullptr) take(x);
  }
  template <typename Derived>
  void take(const Derived& x) {
    copy = x;
    view = view_in_memory(std::as_const(copy).data(), copy);
  }
};

/// Memory range of a matrix: `columns` of `rows` elements, `stride` elements apart.
template <typename Scalar>
struct Extent {
  const Scalar* begin;
  std::size_t rows, columns, stride;

  Extent(const MatrixView<const Scalar>& x, Eigen::Index r, Eigen::Index c)
      : begin(x.data),
        rows(static_cast<std::size_t>(x.transpose == Transpose::No ? r : c)),
        columns(static_cast<std::size_t>(x.transpose == Transpose::No ? c : r)),
        stride(x.stride) {}
  const Scalar* end() const { return begin + (columns - 1) * stride + rows; }
  bool empty() const { return rows == 0 || columns == 0; }
};

/// Whether two ranges share an element; for different strides, whether they may.
template <typename Scalar>
bool overlap(const Extent<Scalar>& x, const Extent<Scalar>& y) {
  const std::less<const Scalar*> before;
  if (before(y.begin, x.begin)) return overlap(y, x);
  if (x.empty() || y.empty() || !before(y.begin, x.end())) return false;
  if (x.stride != y.stride) return true;
  // Blocks of one matrix: y starts `down` rows and `right` columns after x; elements beyond the
  // stride belong to the next column.
  const auto apart = static_cast<std::size_t>(y.begin - x.begin);
  const std::size_t down = apart % x.stride, right = apart / x.stride;
  return (down < x.rows && right < x.columns) ||
         (down + y.rows > x.stride && right + 1 < x.columns);
}

inline std::string shape(Eigen::Index rows, Eigen::Index columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

}  // namespace eigen

/// C = alpha A B + beta C for matrices of double or of float (all of one type). Matrices, maps,
/// blocks, Refs and their transposes are accessed in place if their rows or columns are contiguous;
/// other expressions, and factors that overlap C, are copied. With beta = 0, C is not read. C is
/// not resized. Throws Error (Usage) for mismatched shapes, and the errors of
/// MatrixProduct::compute.
template <typename DerivedC, typename DerivedA, typename DerivedB>
void multiply(MatrixProduct& product, const Eigen::MatrixBase<DerivedC>& c,
              const Eigen::MatrixBase<DerivedA>& a, const Eigen::MatrixBase<DerivedB>& b,
              typename DerivedC::Scalar alpha = 1, typename DerivedC::Scalar beta = 0,
              Reuse reuse = Reuse::Nothing) {
  using Scalar = typename DerivedC::Scalar;
  static_assert(std::is_same_v<Scalar, double> || std::is_same_v<Scalar, float>,
                "products are of double or of float");
  static_assert(std::is_same_v<Scalar, typename DerivedA::Scalar> &&
                    std::is_same_v<Scalar, typename DerivedB::Scalar>,
                "the matrices of a product have the same scalar: cast the others");
  static_assert(eigen::in_memory<DerivedC> &&
                    (int{Eigen::internal::traits<DerivedC>::Flags} & Eigen::LvalueBit) != 0,
                "C is written: give a matrix, a map, a block or a Ref that is not const");
  if (reuse == Reuse::Nothing) product.invalidate();  // also if this call fails
  if (a.cols() != b.rows() || c.rows() != a.rows() || c.cols() != b.cols())
    throw Error(ErrorCategory::Usage, "C is " + eigen::shape(c.rows(), c.cols()) + ", A is " +
                                          eigen::shape(a.rows(), a.cols()) + " and B is " +
                                          eigen::shape(b.rows(), b.cols()) +
                                          ": their shapes do not make a product");
  // Const as in Eigen's own functions, to accept blocks, which are temporary objects.
  DerivedC& to = c.const_cast_derived();
  eigen::Plain<Scalar> spread;  // for a C without contiguous rows or columns
  MatrixView<Scalar> view = eigen::view_in_memory(to.data(), to);
  const bool apart = view.data == nullptr && to.size() > 0;
  if (apart) {
    spread.resize(to.rows(), to.cols());
    if (beta != Scalar(0)) spread = to;
    view = eigen::view_in_memory(spread.data(), spread);
  }
  eigen::Factor<Scalar> left(a.derived()), right(b.derived());
  const eigen::Extent<Scalar> written({view.data, view.stride, view.transpose}, c.rows(), c.cols());
  if (overlap(written, {left.view, a.rows(), a.cols()})) left.take(a.derived());
  if (overlap(written, {right.view, b.rows(), b.cols()})) right.take(b.derived());

  const auto m = static_cast<std::size_t>(c.rows()), n = static_cast<std::size_t>(c.cols());
  const auto k = static_cast<std::size_t>(a.cols());
  product.compute(m, n, k, alpha, left.view, right.view, beta, view, reuse);
  if (apart) to = spread;
}

/// A B as a new matrix.
template <typename DerivedA, typename DerivedB>
eigen::Plain<typename DerivedA::Scalar> multiply(MatrixProduct& product,
                                                 const Eigen::MatrixBase<DerivedA>& a,
                                                 const Eigen::MatrixBase<DerivedB>& b) {
  eigen::Plain<typename DerivedA::Scalar> c(a.rows(), b.cols());
  multiply(product, c, a, b);
  return c;
}

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
