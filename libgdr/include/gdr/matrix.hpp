// Products of dense matrices on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gdr/device.hpp"

namespace gdr {

/// op(X): the matrix as it is, or its transpose.
enum class Transpose : std::uint8_t { No, Yes };

/// What the chip's products see of their factors.
enum class MatrixPrecision : std::uint8_t {
  Chip,  ///< the leading 50 bits of each: one pass
  /// All 53: where matrices have more than 50, what was cut is multiplied too, in up to two more
  /// passes, and added on the host in twice the precision, before the result is rounded.
  Full,
};

/// A matrix as BLAS has it: element (row, column) at `data[row + column * stride]`, `stride` being
/// the leading dimension, at least the rows that are stored and at least 1.
template <typename Number>
struct MatrixView {
  Number* data = nullptr;
  std::size_t stride = 1;
  Transpose transpose = Transpose::No;  ///< op; a result is written to op(X)

  friend bool operator==(const MatrixView&, const MatrixView&) = default;
};

/// What the caller says of factors since the last call of the same MatrixProduct.
enum class Unchanged : std::uint8_t {
  Nothing,  ///< nothing: all is sent
  /// B is the same: view, shape and elements. Columns of it that the boards still hold are not sent
  /// again. View and shape are compared, and what other work did to the memories is known; where
  /// anything differs, and where not all columns fit the memories, B is sent. Elements are not
  /// compared: those that were changed nevertheless count as they were.
  B,
  /// A is the same. If the PEs of the boards hold all of A at once it stays there, else in the
  /// memories: then B is cut into tiles, and A streams by. The result has the same bits. A is sent
  /// by the first call that says so, and not by the ones behind it.
  A,
  /// Both are: columns of B stay in the memories, and the PEs keep the tile of A they have.
  Both,
};

/// C = alpha op(A) op(B) + beta C, op(A) having m rows and k columns, op(B) k rows and n columns.
///
/// Tiles of A go to the local memories of the PEs, columns of B stream by, blocks and chips divide
/// the inner dimension, and the network adds up: sums have 61 bits, and in exact numerics the
/// result does not depend on host or threads. Of an inner dimension longer than a board takes at
/// once (2048 with 16 blocks and four chips) the parts are added on the host, in twice the
/// precision of double. alpha and beta are applied in double. The rules of BLAS hold: beta = 0 does
/// not read C, alpha = 0 or k = 0 does not read A and B, without rows or columns nothing happens.
/// Infinities and NaN come out as sums of products have them; what is below 2^-1022 is zero on the
/// chip. C must not overlap A or B.
class MatrixProduct {
 public:
  /// The device must outlive it. Throws Error (Unsupported) where its blocks have fewer than 32 PEs
  /// or smaller memories than the chip.
  explicit MatrixProduct(Device& device, MatrixPrecision precision = MatrixPrecision::Chip);
  ~MatrixProduct();
  MatrixProduct(MatrixProduct&&) noexcept;
  MatrixProduct& operator=(MatrixProduct&&) noexcept;

  /// Throws Error (Usage) for a leading dimension that is too small, a null pointer to elements
  /// that are needed and sizes beyond any memory; nothing has been written then.
  void compute(std::size_t m, std::size_t n, std::size_t k, double alpha,
               const MatrixView<const double>& a, const MatrixView<const double>& b, double beta,
               const MatrixView<double>& c, Unchanged unchanged = Unchanged::Nothing);
  /// The same in single precision. A float is exact on the chip, so that one pass gives every
  /// product whole in either precision; sums, alpha and beta are as in double, and the result is
  /// rounded to float once: to infinity where it is too large.
  void compute(std::size_t m, std::size_t n, std::size_t k, float alpha,
               const MatrixView<const float>& a, const MatrixView<const float>& b, float beta,
               const MatrixView<float>& c, Unchanged unchanged = Unchanged::Nothing);
  /// The next call sends all, whatever it says of B.
  void forget() noexcept;

  /// The same in the background: the host is free meanwhile, but must leave C alone and A and B as
  /// they are until `wait` (or the next call on this object) returns; what fails in the background
  /// is thrown there. The result has the same bits.
  void start(std::size_t m, std::size_t n, std::size_t k, double alpha,
             const MatrixView<const double>& a, const MatrixView<const double>& b, double beta,
             const MatrixView<double>& c);
  /// Returns when nothing is under way any more.
  void wait();
  /// Inner indices that a board takes in one pass: 2048 with 16 blocks and four chips. Products
  /// with this k, or a multiple of it, use all of it.
  std::size_t depth() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
