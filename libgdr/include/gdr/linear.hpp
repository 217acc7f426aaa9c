// Systems of linear equations on a device: LU, Cholesky, triangular solves, matrix times vector.
//
//   gdr::Device device = gdr::Device::open();
//   gdr::LinearSolver solver(device);
//   std::vector<std::int64_t> pivots(n);
//   if (solver.lu(n, n, {a, n}, pivots)) ...  // singular
//   solver.solve(n, 1, {a, n}, pivots, {b, n});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "gdr/matrix.hpp"

namespace gdr {

/// Where the triangular matrix stands in a product or an equation.
enum class Side : std::uint8_t { Left, Right };
/// The part of a matrix that counts, as it is stored; the other is neither read nor written.
enum class Triangle : std::uint8_t { Lower, Upper };
/// Whether the diagonal is read, or known to be ones.
enum class Diagonal : std::uint8_t { Stored, Unit };

/// Elements of a vector, `increment` apart (at least 1).
template <typename Number>
struct VectorView {
  Number* data = nullptr;
  std::size_t increment = 1;
};

struct LinearOptions {
  MatrixPrecision precision = MatrixPrecision::Full;
  /// Columns of a panel, which the host factorises while the device updates what is right of it.
  /// 0: an eighth of the matrix, so that the host's part stays small, at least 64, and at most
  /// what a board multiplies in one pass (MatrixProduct::depth), where it is at its best.
  std::size_t block = 0;
  /// Products of fewer operations (2 m n k) are done on the host. The link of a real board takes
  /// 1.7 ms for one tile of 256 x 2048, in which a host of ten Gflops does as much as this. So are
  /// products that would fill less than a sixteenth of what a board takes at once. 0 sends all to
  /// the device.
  double device_flops = 0x1p24;
  /// Update the next panel first, and factorise it while the device updates the rest. The results
  /// have the same bits either way.
  bool overlap = true;
};

/// Factorisations and solves, of matrices by columns (as MatrixView has them).
///
/// Products run on the device (gdr::MatrixProduct), panels and small triangles on the host. In
/// exact numerics the results depend on the options and the device's geometry, but not on threads,
/// timing or host. NaN and infinities spread as in LAPACK; nothing stops at them. All functions
/// throw Error (Usage) for a leading dimension that is too small, a null pointer to elements that
/// are needed and arrays that are too short; nothing has been written then.
class LinearSolver {
 public:
  /// The device must outlive it. Throws Error (Unsupported) as MatrixProduct does.
  explicit LinearSolver(Device& device, const LinearOptions& options = {});
  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  /// P A = L U of an m x n matrix with partial pivoting, in place (LAPACK's dgetrf): L below the
  /// diagonal, its ones left out, U on and above it. Row i was exchanged with row pivots[i], for
  /// i = 0, 1, ...; `pivots` has min(m, n) elements and counts from 0. Returns the index of the
  /// first pivot that is exactly zero, if there is one: the factorisation is complete all the same,
  /// but U cannot be divided by.
  std::optional<std::size_t> lu(std::size_t m, std::size_t n, const MatrixView<double>& a,
                                std::span<std::int64_t> pivots);
  /// op(A) X = B from the factors of an n x n matrix; B has `columns` of them and becomes X. A zero
  /// pivot makes infinities and NaN. Throws Error (Usage) for pivots that no factorisation gives.
  void solve(std::size_t n, std::size_t columns, const MatrixView<const double>& lu,
             std::span<const std::int64_t> pivots, const MatrixView<double>& b);

  /// A = L L^T or U^T U of a symmetric, positive definite matrix, in place (LAPACK's dpotrf).
  /// Returns the index of the first pivot that is not positive, if there is one: A is not positive
  /// definite then, and what was computed so far stays.
  std::optional<std::size_t> cholesky(Triangle triangle, std::size_t n,
                                      const MatrixView<double>& a);
  /// A X = B from the Cholesky factor of A; B becomes X.
  void solve_cholesky(Triangle triangle, std::size_t n, std::size_t columns,
                      const MatrixView<const double>& factor, const MatrixView<double>& b);

  /// op(A) X = alpha B or X op(A) = alpha B for triangular A (BLAS's dtrsm); B, m x n, becomes X.
  /// `triangle` is that of A as it is stored. alpha = 0 does not read A and B.
  void solve_triangular(Side side, Triangle triangle, Diagonal diagonal, std::size_t m,
                        std::size_t n, double alpha, const MatrixView<const double>& a,
                        const MatrixView<double>& b);

  /// y = alpha op(A) x + beta y, op(A) having m rows and n columns (BLAS's dgemv). beta = 0 does
  /// not read y. The device multiplies A as a product with one column; the link, which has to
  /// carry every element of A, bounds its speed.
  void multiply(std::size_t m, std::size_t n, double alpha, const MatrixView<const double>& a,
                const VectorView<const double>& x, double beta, const VectorView<double>& y);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
