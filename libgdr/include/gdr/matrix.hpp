// Dense matrix products on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gdr/device.hpp"

namespace gdr {

/// op(X): the matrix as it is, or its transpose.
enum class Transpose : std::uint8_t { No, Yes };

/// Precision of the factors in products on the chip.
enum class MatrixPrecision : std::uint8_t {
  Chip,  ///< the leading 50 bits, one pass
  /// All 53 bits: for matrices with more than 50, the residuals are multiplied in up to two further
  /// passes and added on the host in twice the precision of double, before the result is rounded.
  Full,
};

/// A matrix in the layout of BLAS: element (row, column) at `data[row + column * stride]`. `stride`
/// is the leading dimension, at least the number of stored rows and at least 1.
template <typename Number>
struct MatrixView {
  Number* data = nullptr;
  std::size_t stride = 1;
  Transpose transpose = Transpose::No;  ///< op; results are written to op(X)

  friend bool operator==(const MatrixView&, const MatrixView&) = default;
};

/// Factors that the caller declares unchanged since the last call of the same MatrixProduct.
enum class Reuse : std::uint8_t {
  Nothing,  ///< none: both factors are sent
  /// B has the same view, shape and elements. Its resident columns are not sent again. View and
  /// shape are compared, and overwritten memories are tracked; B is sent if anything differs or not
  /// all columns fit the memories. Elements are not compared: changes to them are ignored.
  B,
  /// A is the same. If A fits the PEs of the boards it is resident there, else in the memories:
  /// then the operands are swapped, B is divided into tiles and A is streamed. The result has the
  /// same bits. The first such call sends A, the following ones do not.
  A,
  /// Both are the same: columns of B are resident in the memories, a tile of A in the PEs.
  Both,
};

/// C = alpha op(A) op(B) + beta C, op(A) having m rows and k columns, op(B) k rows and n columns.
///
/// Tiles of A are loaded to the local memories of the PEs, columns of B are streamed, the inner
/// dimension is divided over blocks and chips, and the reduction network adds: sums have 61 bits,
/// and in exact numerics the result does not depend on host or threads. An inner dimension longer
/// than one pass of a board (2048 with 16 blocks and four chips) is divided; the host adds the
/// partial sums in twice the precision of double. alpha and beta are applied in double. The rules
/// of BLAS hold: beta = 0 does not read C, alpha = 0 or k = 0 does not read A and B, and nothing
/// happens without rows or columns. Infinities and NaN propagate; numbers below 2^-1022 are zero on
/// the chip. C must not overlap A or B.
class MatrixProduct {
 public:
  /// The device must outlive it. Throws Error (Unsupported) if its blocks have fewer than 32 PEs or
  /// smaller memories than those of the chip.
  explicit MatrixProduct(Device& device, MatrixPrecision precision = MatrixPrecision::Chip);
  ~MatrixProduct();
  MatrixProduct(MatrixProduct&&) noexcept;
  MatrixProduct& operator=(MatrixProduct&&) noexcept;

  /// Throws Error (Usage) for a leading dimension that is too small, a null pointer to required
  /// elements and sizes that exceed the address space; C is unchanged then.
  void compute(std::size_t m, std::size_t n, std::size_t k, double alpha,
               const MatrixView<const double>& a, const MatrixView<const double>& b, double beta,
               const MatrixView<double>& c, Reuse reuse = Reuse::Nothing);
  /// Single precision. Floats are exact on the chip, so one pass computes exact products in either
  /// precision; sums, alpha and beta are those of double, and the result is rounded to float once:
  /// to infinity if it is too large. The native engines of the host compute in floats instead,
  /// with the rounding errors and the overflow of a BLAS's sgemm.
  void compute(std::size_t m, std::size_t n, std::size_t k, float alpha,
               const MatrixView<const float>& a, const MatrixView<const float>& b, float beta,
               const MatrixView<float>& c, Reuse reuse = Reuse::Nothing);
  /// Invalidate the resident factors: the next call sends both, whatever its `reuse`.
  void invalidate() noexcept;

  /// Compute in the background. C must not be accessed and A and B not be changed until `wait` (or
  /// the next call on this object) returns; errors are thrown there. The result has the same bits.
  void start(std::size_t m, std::size_t n, std::size_t k, double alpha,
             const MatrixView<const double>& a, const MatrixView<const double>& b, double beta,
             const MatrixView<double>& c);
  /// Wait for the product started last.
  void wait();
  /// Inner dimension of one pass of a board: 2048 with 16 blocks and four chips. Products with a
  /// multiple of it as k use the board fully.
  std::size_t depth() const noexcept;

 private:
  friend struct TriangleProduct;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
