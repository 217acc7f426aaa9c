// Functions of factorisations on the host, by instruction set: products and loops over columns.
//
// Every element is computed by the same operations in the same order on every host: a sum
// over `product_kc` inner indices in order, each product rounded before it is added (no FMA),
// then subtracted from C. So vectors of any length give the same bits.
//
// Plain data without inline functions: they are compiled for each instruction set, and must not
// share functions with the rest of the library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/api/engine.hpp"

namespace gdr::dense {

/// Inner indices whose products are summed before they are subtracted from C. Also kc of the loops:
/// a strip of B, kc x nr, takes a quarter of the first-level cache.
constexpr std::size_t product_kc = 192;

/// A factor op(X): element (i, j) at `data[i * down + j * across]`.
struct HostFactor {
  const double* data;
  std::size_t down, across;
};

/// C -= A B, of m rows, n columns and any inner dimension k; C by columns, `stride` apart.
struct HostProduct {
  std::size_t m, n, k;
  HostFactor a, b;
  double* c;
  std::size_t stride;
  double* scratch;  ///< buffer of HostFunctions::scratch(m, n) doubles
};

/// Largest panel of LU that is factorised column by column, columns.
constexpr std::size_t narrowest_panel = 16;
/// Largest triangle that is factorised or solved by substitution, rows.
constexpr std::size_t triangle_rows = 32;

/// A triangle in the order of substitution: unknown i depends on those before it. Element (i, j),
/// j <= i, at t[i + j * triangle_rows].
struct HostTriangle {
  std::size_t n;
  bool unit;  ///< whether the diagonal is one
  const double* t;
};

/// Functions of the host's part of factorisations.
struct FactorFunctions {
  /// P A = L U of m rows and n columns, at most narrowest_panel. Returns the first column whose
  /// pivot is zero, n if there is none. A NaN is selected as pivot only on the diagonal.
  std::size_t (*factor_columns)(std::size_t m, std::size_t n, double* a, std::size_t stride,
                                std::int64_t* pivots);
  /// A = L L^T of at most triangle_rows rows; element (i, j) at a[i + j * triangle_rows], columns
  /// filled to triangle_rows. Returns the first pivot that is not positive, n if there is none.
  std::size_t (*factor_triangle)(std::size_t n, double* a);
  /// Solves for `count` right-hand sides; unknown i of number v is at b[i * next + v].
  void (*solve_across)(const HostTriangle& s, double* b, std::ptrdiff_t next, std::size_t count);
  /// Solves for `count` right-hand sides; unknown i of number v is at b[i + v * stride], or at
  /// b[n - 1 - i + v * stride] if not `forward`.
  void (*solve_along)(const HostTriangle& s, double* b, bool forward, std::size_t stride,
                      std::size_t count);
};

/// Largest number of words of the matrices of one problem of a batch.
constexpr std::size_t batch_words = 256;

/// Small matrices: element (row, column) of matrix i at `data[row + column * stride + i * step]`.
struct HostBatch {
  double* data;
  std::size_t stride, step;
};

/// LU factors of small matrices, and the row exchanges, n for each.
struct HostFactors {
  const double* data;
  std::size_t stride, step;
  const std::int64_t* pivots;
};

/// C = A B of small matrices, of m rows, n columns and the inner dimension k.
struct HostBatchProduct {
  std::size_t m, n, k;
  HostBatch a, b, c;  ///< a and b are only read
};

/// The functions for an instruction set.
struct HostFunctions {
  Isa isa;
  /// Size of the scratch buffer for a product of up to m rows and n columns, doubles.
  std::size_t (*scratch)(std::size_t m, std::size_t n);
  void (*subtract_product)(const HostProduct& product);
  FactorFunctions factor;

  // A call of these computes `count` problems, at most `lanes`, one in each lane.
  std::size_t lanes;
  /// P A = L U in place with partial pivoting. Returns the matrices that have a pivot of zero or an
  /// element that is not finite, as bits; these are unchanged.
  std::uint64_t (*factor_batch)(std::size_t n, const HostBatch& a, std::size_t count,
                                std::int64_t* pivots);
  /// Solves A X = B in place.
  void (*solve_batch)(std::size_t n, std::size_t columns, const HostFactors& lu, std::size_t count,
                      const HostBatch& b);
  void (*multiply_batch)(const HostBatchProduct& product, std::size_t count);
};

/// The functions for the instruction set of GDR_ISA, else the best of this host.
const HostFunctions& host_functions() noexcept;
/// The functions for an instruction set; null if there are none.
const HostFunctions* host_functions_of(Isa isa) noexcept;

const HostFunctions& host_functions_portable() noexcept;
const HostFunctions& host_functions_avx2() noexcept;
const HostFunctions& host_functions_avx512() noexcept;

}  // namespace gdr::dense
