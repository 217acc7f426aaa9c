// Systems of linear equations on a device: LU, Cholesky, triangular solves, matrix-vector products.
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

/// Side of the triangular matrix in a product or an equation.
enum class Side : std::uint8_t { Left, Right };
/// The triangle of a matrix that is stored; the other one is neither read nor written.
enum class Triangle : std::uint8_t { Lower, Upper };
/// Whether the diagonal is read or implicitly one.
enum class Diagonal : std::uint8_t { Stored, Unit };

/// Elements of a vector, `increment` apart (at least 1).
template <typename Number>
struct VectorView {
  Number* data = nullptr;
  std::size_t increment = 1;
};

struct LinearOptions {
  MatrixPrecision precision = MatrixPrecision::Full;
  /// Columns of a panel, which the host factorises while the device updates the trailing matrix. 0:
  /// an eighth of the matrix, to limit the host's share of the work, at least 64, and at most the
  /// depth of one pass (MatrixProduct::depth), at which a board is fastest, and 2048. On native
  /// engines of the host 0 is the whole matrix, which is factorised recursively.
  std::size_t block = 0;
  /// Products with fewer operations (2 m n k) are computed on the host. The default is the work of
  /// a 10 Gflops host in 1.7 ms, which the link of a real board takes for one tile of 256 x 2048.
  /// Products that fill less than a sixteenth of a board's tile are computed on the host too. 0:
  /// all products on the device.
  double device_flops = 0x1p24;
  /// Look-ahead: update the next panel first and factorise it while the device updates the rest.
  /// The results have the same bits either way. No effect on native engines of the host.
  bool overlap = true;
};

/// Factorisations and solves of matrices in column-major order (MatrixView).
///
/// Products run on the device (gdr::MatrixProduct), panels and small triangles on the host. In
/// exact numerics the results depend on the options and the device's geometry, but not on threads,
/// timing or host. NaN and infinities propagate as in LAPACK. All functions throw Error (Usage) for
/// a leading dimension that is too small, a null pointer to required elements and arrays that are
/// too short, before anything is written.
class LinearSolver {
 public:
  /// The device must outlive it. Throws Error (Unsupported) as MatrixProduct does.
  explicit LinearSolver(Device& device, const LinearOptions& options = {});
  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  /// P A = L U of an m x n matrix with partial pivoting, in place (LAPACK's dgetrf): L below the
  /// diagonal, without its unit diagonal, U on and above it. Row i was exchanged with row
  /// pivots[i], for i = 0, 1, ...; `pivots` has min(m, n) elements and counts from 0. Returns the
  /// index of the first pivot that is exactly zero, if any: the factorisation is complete, but U is
  /// singular.
  std::optional<std::size_t> lu(std::size_t m, std::size_t n, const MatrixView<double>& a,
                                std::span<std::int64_t> pivots);
  /// Solves op(A) X = B from the factors of an n x n matrix; B has `columns` columns and is
  /// overwritten with X. A zero pivot produces infinities and NaN. Throws Error (Usage) for invalid
  /// pivots.
  void solve(std::size_t n, std::size_t columns, const MatrixView<const double>& lu,
             std::span<const std::int64_t> pivots, const MatrixView<double>& b);

  /// A = L L^T or U^T U of a symmetric, positive definite matrix, in place (LAPACK's dpotrf).
  /// Returns the index of the first pivot that is not positive, if any: A is not positive definite
  /// then, and holds the partial factorisation.
  std::optional<std::size_t> cholesky(Triangle triangle, std::size_t n,
                                      const MatrixView<double>& a);
  /// Solves A X = B from the Cholesky factor of A; B is overwritten with X.
  void solve_cholesky(Triangle triangle, std::size_t n, std::size_t columns,
                      const MatrixView<const double>& factor, const MatrixView<double>& b);

  /// Solves op(A) X = alpha B or X op(A) = alpha B for triangular A (BLAS's dtrsm); B, m x n, is
  /// overwritten with X. `triangle` is that of A as stored. alpha = 0 does not read A and B.
  void solve_triangular(Side side, Triangle triangle, Diagonal diagonal, std::size_t m,
                        std::size_t n, double alpha, const MatrixView<const double>& a,
                        const MatrixView<double>& b);

  /// y = alpha op(A) x + beta y, op(A) having m rows and n columns (BLAS's dgemv). beta = 0 does
  /// not read y. The device computes a matrix product with one column; the transfer of A over the
  /// link limits its speed.
  void multiply(std::size_t m, std::size_t n, double alpha, const MatrixView<const double>& a,
                const VectorView<const double>& x, double beta, const VectorView<double>& y);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
