// Submatrices, and checks of matrices passed by callers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "gdr/error.hpp"
#include "gdr/matrix.hpp"

namespace gdr::dense {

/// The submatrix of op(X) from an element on; a null pointer stays one.
template <typename Number>
MatrixView<Number> submatrix(const MatrixView<Number>& x, std::size_t row,
                             std::size_t column) noexcept {
  if (x.transpose == Transpose::Yes) std::swap(row, column);
  return {x.data == nullptr ? nullptr : x.data + row + column * x.stride, x.stride, x.transpose};
}

/// Read-only view of op(X).
inline MatrixView<const double> const_view(const MatrixView<double>& x) noexcept {
  return {x.data, x.stride, x.transpose};
}

inline Transpose flipped(Transpose t) noexcept {
  return t == Transpose::No ? Transpose::Yes : Transpose::No;
}
/// The transpose of op(X).
inline MatrixView<const double> transpose_of(const MatrixView<const double>& x) noexcept {
  return {x.data, x.stride, flipped(x.transpose)};
}

/// Element of op(X).
inline double element(const MatrixView<const double>& x, std::size_t row,
                      std::size_t column) noexcept {
  return x.transpose == Transpose::No ? x.data[row + column * x.stride]
                                      : x.data[column + row * x.stride];
}

/// About half of n, a multiple of `unit`; less than n if n is more than `unit`.
constexpr std::size_t aligned_half(std::size_t n, std::size_t unit) noexcept {
  return (n / 2 + unit - 1) / unit * unit;
}

/// Throws Error (Usage) if `name` would exceed the address space.
inline void require_count(std::size_t rows, std::size_t columns, const std::string& name) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (columns > 0 && rows > most / sizeof(double) / columns)
    throw Error(ErrorCategory::Usage, name + " is larger than any memory");
}

/// Throws Error (Usage) for an invalid matrix of the sizes of op(X); only the leading dimension is
/// checked unless its elements are accessed (`touches`).
template <typename Number>
void require_matrix(const MatrixView<Number>& x, std::size_t rows, std::size_t columns,
                    const char* name, bool touches = true) {
  if (x.transpose == Transpose::Yes) std::swap(rows, columns);
  const auto refuse = [](const std::string& text) { throw Error(ErrorCategory::Usage, text); };
  if (x.stride < std::max<std::size_t>(rows, 1))
    refuse("the leading dimension of " + std::string(name) + " is " + std::to_string(x.stride) +
           ", but it has " + std::to_string(rows) + " rows");
  if (!touches || rows == 0 || columns == 0) return;
  require_count(x.stride, columns, name);
  if (x.data == nullptr) refuse("the matrix " + std::string(name) + " is a null pointer");
}

/// Checks a matrix that is written.
inline void require_result(const MatrixView<double>& x, std::size_t rows, std::size_t columns,
                           const char* name) {
  if (x.transpose == Transpose::Yes)
    throw Error(ErrorCategory::Usage,
                std::string(name) + " is overwritten and cannot be transposed");
  require_matrix(x, rows, columns, name);
}

}  // namespace gdr::dense
