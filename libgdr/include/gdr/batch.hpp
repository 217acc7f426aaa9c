// Many small matrices at once: each in an element of a PE, thousands side by side on a board.
//
//   gdr::SmallMatrices small(device);
//   small.lu(count, n, {a, n, n * n}, pivots);
//   small.solve(count, n, 1, {a, n, n * n}, pivots, {b, n, n});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gdr/matrix.hpp"

namespace gdr {

/// Matrices of one shape: element (row, column) of number i is at `data[row + column * stride + i *
/// step]`. A step of 0 gives the same matrix to all; results need steps that keep them apart.
template <typename Number>
struct MatrixBatch {
  Number* data = nullptr;
  std::size_t stride = 1;  ///< the leading dimension, at least the rows
  std::size_t step = 0;
};

/// Products, factorisations and solves of batches. Every matrix is worked on alone, with the same
/// bits wherever it stands in the batch. Products see 50 bits of each factor, sums have 61. In
/// MatrixPrecision::Full they see all: what the multiplier cuts off goes through it in further
/// passes, and quotients are corrected by what they leave, so that results are as good as the 61
/// bits of the sums and one rounding to double let them be. That costs the PEs up to four times as
/// many clocks, and the link, which bounds small matrices, nothing. Factors of 14 and 15 rows are
/// then the host's: their instructions would not fit the control processors.
///
/// All matrices of one problem must fit the 256 words of a PE together. Up to 64 words four
/// problems share a PE, up to 128 two. Problems with infinities, NaN, numbers below 2^-1022, or
/// pivots beyond 2^-1000 .. 2^1000 are done on the host in double, as LAPACK would.
///
/// All functions throw Error (Usage) for problems that do not fit, leading dimensions or steps that
/// are too small, null pointers and arrays that are too short; nothing has been written then.
/// Results are written when all are known, so a failing device leaves the arguments as they were.
class SmallMatrices {
 public:
  /// The device must outlive it and stay where it is.
  explicit SmallMatrices(Device& device, MatrixPrecision precision = MatrixPrecision::Chip);
  ~SmallMatrices();
  SmallMatrices(SmallMatrices&&) noexcept;
  SmallMatrices& operator=(SmallMatrices&&) noexcept;

  /// C = A B of each, A being m x k and B k x n; m k + k n + m n <= 256. C must not overlap A or B.
  void multiply(std::size_t count, std::size_t m, std::size_t n, std::size_t k,
                const MatrixBatch<const double>& a, const MatrixBatch<const double>& b,
                const MatrixBatch<double>& c);

  /// P A = L U of each n x n matrix with partial pivoting, in place, as LinearSolver::lu has it;
  /// n <= 15. `pivots` has n numbers for each matrix, one matrix behind the other, and counts from
  /// 0; of equal candidates any may be the pivot. Returns how many matrices have a pivot that is
  /// exactly zero.
  std::size_t lu(std::size_t count, std::size_t n, const MatrixBatch<double>& a,
                 std::span<std::int64_t> pivots);

  /// A X = B from the factors; each B has `columns` of them and becomes X; n^2 + n <= 256. The
  /// columns go in as many runs as they need to fit.
  void solve(std::size_t count, std::size_t n, std::size_t columns,
             const MatrixBatch<const double>& lu, std::span<const std::int64_t> pivots,
             const MatrixBatch<double>& b);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
