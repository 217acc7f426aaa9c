// Batched operations on small matrices: each in an element of a PE, thousands on a board.
//
//   gdr::BatchedMatrices batched(device);
//   batched.lu(count, n, {a, n, n * n}, pivots);
//   batched.solve(count, n, 1, {a, n, n * n}, pivots, {b, n, n});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gdr/matrix.hpp"

namespace gdr {

/// Matrices of one shape: element (row, column) of matrix i is at `data[row + column * stride + i *
/// step]`. With a step of 0 all problems use the same matrix; results must not overlap.
template <typename Number>
struct MatrixBatch {
  Number* data = nullptr;
  std::size_t stride = 1;  ///< the leading dimension, at least the rows
  std::size_t step = 0;    ///< elements from a matrix to the next
};

/// Products, factorisations and solves of batches. The result of a matrix has the same bits at
/// every place in the batch. Products use 50 bits of each factor, sums have 61.
/// MatrixPrecision::Full uses all bits: the residuals of the factors are multiplied in further
/// passes and quotients are corrected by their remainders, so that results have the accuracy of
/// 61-bit sums rounded once to double. This takes up to four times the clocks of the PEs, but no
/// more time on the link, which limits small matrices. LU of 14 and 15 rows is then computed by the
/// host, as the program would not fit the instruction memory.
///
/// With a native engine the host computes all batches, in double and with the same bits for any
/// number of threads; they are then not part of the device's statistics.
///
/// All matrices of one problem must fit the 256 words of a PE together. Up to 64 words four
/// problems share a PE, up to 128 two. Problems with infinities, NaN, numbers below 2^-1022, or
/// pivots beyond 2^-1000 .. 2^1000 are computed by the host in double, like LAPACK.
///
/// All functions throw Error (Usage) for problems that do not fit, leading dimensions or steps that
/// are too small, null pointers and arrays that are too short. Results are written after all have
/// been computed: the arguments are unchanged after any error.
class BatchedMatrices {
 public:
  /// The device must outlive it and must not be moved.
  explicit BatchedMatrices(Device& device, MatrixPrecision precision = MatrixPrecision::Chip);
  ~BatchedMatrices();
  BatchedMatrices(BatchedMatrices&&) noexcept;
  BatchedMatrices& operator=(BatchedMatrices&&) noexcept;

  /// C = A B of each, A being m x k and B k x n; m k + k n + m n <= 256. C must not overlap A or B.
  void multiply(std::size_t count, std::size_t m, std::size_t n, std::size_t k,
                const MatrixBatch<const double>& a, const MatrixBatch<const double>& b,
                const MatrixBatch<double>& c);

  /// P A = L U of each n x n matrix with partial pivoting, in place, like LinearSolver::lu;
  /// n <= 15. `pivots` has n numbers for each matrix, in the order of the matrices, and counts from
  /// 0; the choice between equal candidates is unspecified. Returns the number of matrices with a
  /// pivot that is exactly zero.
  std::size_t lu(std::size_t count, std::size_t n, const MatrixBatch<double>& a,
                 std::span<std::int64_t> pivots);

  /// Solves A X = B from the factors; each B has `columns` columns and is overwritten with X;
  /// n^2 + n <= 256. Columns that do not fit at once take several runs.
  void solve(std::size_t count, std::size_t n, std::size_t columns,
             const MatrixBatch<const double>& lu, std::span<const std::int64_t> pivots,
             const MatrixBatch<double>& b);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
