// The kernels for a vector length. Both factors are packed first in the order of the innermost loop
// (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008).
//
// Included by one file for each instruction set, with a `Host` of its own, so that no symbols are
// shared.
#pragma once

#include "libgdr/dense/host/batch_loops.hpp"
#include "libgdr/dense/host/factor_loops.hpp"
#include "libgdr/dense/host/kernels.hpp"

namespace gdr::dense {

/// A vector has `Host::width` doubles, `Host::bytes` bytes; `Host::parts` x `Host::columns` vectors
/// of sums fill the registers.
template <class Host>
class HostLoops {
 public:
  static std::size_t scratch(std::size_t m, std::size_t n) {
    return product_depth * ((m + rows - 1) / rows * rows + (n + columns - 1) / columns * columns);
  }

  static void subtract_product(const HostProduct& p) {
    for (std::size_t first = 0; first < p.k; first += product_depth) {
      const std::size_t depth = p.k - first < product_depth ? p.k - first : product_depth;
      double* const a = p.scratch;
      double* const b = a + (p.m + rows - 1) / rows * rows * product_depth;
      copy<rows>(p.a.data + first * p.a.across, p.a.down, p.a.across, p.m, depth, a);
      copy<columns>(p.b.data + first * p.b.down, p.b.across, p.b.down, p.n, depth, b);
      for (std::size_t j = 0; j < p.n; j += columns)
        for (std::size_t i = 0; i < p.m; i += rows)
          tile(a + i * depth, b + j * depth, depth, p, i, j);
    }
  }

  using Batches = BatchLoops<Host>;
  static constexpr HostKernels kernels{
      Host::isa,      scratch,         subtract_product, FactorLoops<Host>::kernels(),
      Batches::lanes, Batches::factor, Batches::solve,   Batches::multiply};

 private:
  static constexpr std::size_t width = Host::width, parts = Host::parts;
  static constexpr std::size_t rows = parts * width, columns = Host::columns;
  typedef double V __attribute__((vector_size(width * sizeof(double))));

  static V load(const double* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(double* p, V v) { __builtin_memcpy(p, &v, sizeof v); }

  /// Packs `Count` vectors of a factor interleaved by index, padded with zeros.
  template <std::size_t Count>
  static void copy(const double* from, std::size_t next_vector, std::size_t next_index,
                   std::size_t vectors, std::size_t depth, double* to) {
    for (std::size_t v = 0; v < vectors; v += Count) {
      const std::size_t n = vectors - v < Count ? vectors - v : Count;
      const double* const at = from + v * next_vector;
      for (std::size_t l = 0; l < depth; ++l, to += Count) {
        const double* const index = at + l * next_index;
        if (n == Count && next_vector == 1) {
          __builtin_memcpy(to, index, Count * sizeof(double));
          continue;
        }
        for (std::size_t i = 0; i < n; ++i) to[i] = index[i * next_vector];
        for (std::size_t i = n; i < Count; ++i) to[i] = 0;
      }
    }
  }

  static void tile(const double* a, const double* b, std::size_t depth, const HostProduct& p,
                   std::size_t row, std::size_t column) {
    V sum[columns][parts] = {};
    for (std::size_t l = 0; l < depth; ++l, a += rows, b += columns) {
      V x[parts];
#pragma GCC unroll 16
      for (std::size_t r = 0; r < parts; ++r) x[r] = load(a + r * width);
#pragma GCC unroll 16
      for (std::size_t j = 0; j < columns; ++j) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < parts; ++r) sum[j][r] += x[r] * b[j];
      }
    }
    const std::size_t m = p.m - row < rows ? p.m - row : rows;
    const std::size_t n = p.n - column < columns ? p.n - column : columns;
    double* const c = p.c + row + column * p.stride;
    if (m == rows && n == columns) {
#pragma GCC unroll 16
      for (std::size_t j = 0; j < columns; ++j) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < parts; ++r) {
          double* const to = c + j * p.stride + r * width;
          store(to, load(to) - sum[j][r]);
        }
      }
      return;
    }
    double left[columns][rows];
    __builtin_memcpy(left, sum, sizeof left);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < m; ++i) c[i + j * p.stride] -= left[j][i];
  }
};

}  // namespace gdr::dense
