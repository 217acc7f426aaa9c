// Products computed from the caller's arrays in the host's own arithmetic, for engines that compute
// in the host's numbers: the functions of an instruction set, and the product.
//
// Plain data without inline functions, as in functions.hpp.
#pragma once

#include <cstddef>

#include "libgdr/dense/host/functions.hpp"

namespace gdr::dense {

/// A factor op(X): element (i, j) at `data[i * down + j * across]`.
template <typename Number>
struct DirectFactor {
  const Number* data;
  std::size_t down, across;
};

/// The elements of a square C that are computed; the others are not accessed.
enum class DirectPart : unsigned char { All, Lower, Upper };

/// C = alpha A B + beta C of m rows, n columns and the inner dimension k. Each element is the sum
/// over blocks of inner indices in order, whatever the number of threads. C is not read if beta is
/// zero, and must not overlap the factors.
template <typename Number>
struct DirectProduct {
  std::size_t m, n, k;
  Number alpha;
  DirectFactor<Number> a, b;
  Number beta;
  Number* c;
  std::size_t down, across;  ///< element (i, j) of C at `c[i * down + j * across]`
  DirectPart part = DirectPart::All;
};

/// Some rows and columns of C with a block of inner indices; both factors are packed.
template <typename Number>
struct DirectBlock {
  std::size_t m, n, depth;
  const Number *a, *b;
  Number alpha, beta;
  Number* c;
  std::size_t stride;  ///< distance of the columns of C
  DirectPart part;
  std::ptrdiff_t diagonal;  ///< element (i, j) is on the diagonal of C if i + diagonal = j
};

/// Functions for an instruction set. A panel has `mr` rows of A, a vector `lanes` of them, a strip
/// `nr` columns of B.
template <typename Number>
struct DirectFunctions {
  std::size_t mr, lanes, nr;
  /// Packs `count` rows (a) or columns (b) from (vector, index) on for `depth` inner indices; the
  /// last panel is padded with zeros. `next_vector`, `next_index`: distances in `from`.
  void (*pack_a)(const Number* from, std::size_t next_vector, std::size_t next_index,
                 std::size_t count, std::size_t depth, Number* to);
  void (*pack_b)(const Number* from, std::size_t next_vector, std::size_t next_index,
                 std::size_t count, std::size_t depth, Number* to);
  /// Loops jr and ir around the micro-kernel: a packed block of A times one of B.
  void (*macro_kernel)(const DirectBlock<Number>& block);
};

/// Computes a product in up to `threads` threads, with the functions for an instruction set. Throws
/// std::bad_alloc, before C is written.
template <typename Number>
void multiply_directly(const DirectProduct<Number>& product, unsigned threads, Isa isa);
extern template void multiply_directly(const DirectProduct<double>&, unsigned, Isa);
extern template void multiply_directly(const DirectProduct<float>&, unsigned, Isa);

/// Functions for both types of numbers, and for factorisations in the host's own arithmetic.
struct DirectSet {
  DirectFunctions<double> doubles;
  DirectFunctions<float> floats;
  FactorFunctions factor;
};
/// The functions for an instruction set that this host has.
const DirectSet& direct_set(Isa isa) noexcept;
const DirectSet& direct_portable() noexcept;
const DirectSet& direct_avx2() noexcept;
const DirectSet& direct_avx512() noexcept;

}  // namespace gdr::dense
