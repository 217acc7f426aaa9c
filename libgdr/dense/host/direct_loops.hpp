// The kernels of direct products for a vector length: packing and tiles of sums in registers (Goto
// and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008).
//
// Included by one file for each instruction set, with a `Host` of its own, so that no symbols are
// shared.
#pragma once

#include "libgdr/dense/host/direct.hpp"

namespace gdr::dense {

/// A vector has `Host::bytes` bytes; `Host::parts` x `Host::columns` vectors of sums fill the
/// registers.
template <class Host, typename Number>
class DirectLoops {
 public:
  static constexpr DirectKernels<Number> kernels() {
    return {rows, columns, pack<rows>, pack<columns>, multiply};
  }

 private:
  static constexpr std::size_t width = Host::bytes / sizeof(Number), parts = Host::parts;
  static constexpr std::size_t rows = parts * width, columns = Host::columns;
  typedef Number V __attribute__((vector_size(Host::bytes)));

  static V load(const Number* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(Number* p, V v) { __builtin_memcpy(p, &v, sizeof v); }

  template <std::size_t Count>
  static void pack(const Number* from, std::size_t next_vector, std::size_t next_index,
                   std::size_t vectors, std::size_t depth, Number* to) {
    for (std::size_t v = 0; v < vectors; v += Count, to += Count * depth) {
      const std::size_t n = vectors - v < Count ? vectors - v : Count;
      const Number* const at = from + v * next_vector;
      if (n < Count)
        for (std::size_t i = 0; i < Count * depth; ++i) to[i] = 0;
      if (next_vector == 1) {
        for (std::size_t l = 0; l < depth; ++l) {
          if (n == Count) {
            __builtin_memcpy(to + l * Count, at + l * next_index, Count * sizeof(Number));
          } else {
            for (std::size_t i = 0; i < n; ++i) to[l * Count + i] = at[l * next_index + i];
          }
        }
        continue;
      }
      // Vectors are contiguous: some indices of all vectors at a time, to use whole cache lines.
      constexpr std::size_t some = 64 / sizeof(Number);
      for (std::size_t first = 0; first < depth; first += some) {
        const std::size_t end = depth - first < some ? depth : first + some;
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t l = first; l < end; ++l)
            to[l * Count + i] = at[i * next_vector + l * next_index];
      }
    }
  }

  static void multiply(const DirectBlock<Number>& p) {
    for (std::size_t j = 0; j < p.n; j += columns)
      for (std::size_t i = 0; i < p.m; i += rows)
        tile(p.a + i * p.depth, p.b + j * p.depth, p, i, j);
  }

  static void tile(const Number* a, const Number* b, const DirectBlock<Number>& p, std::size_t row,
                   std::size_t column) {
    Number* const c = p.c + row + column * p.stride;
    const std::size_t m = p.m - row < rows ? p.m - row : rows;
    const std::size_t n = p.n - column < columns ? p.n - column : columns;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t r = 0; r < parts; ++r)
        __builtin_prefetch(c + j * p.stride + (r * width < m ? r * width : 0), 1);
    V sum[columns][parts] = {};
#pragma GCC unroll 4
    for (std::size_t l = 0; l < p.depth; ++l, a += rows, b += columns) {
      V x[parts];
#pragma GCC unroll 16
      for (std::size_t r = 0; r < parts; ++r) x[r] = load(a + r * width);
#pragma GCC unroll 16
      for (std::size_t j = 0; j < columns; ++j) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < parts; ++r) sum[j][r] += x[r] * b[j];
      }
    }
    if (m == rows && n == columns) {
#pragma GCC unroll 16
      for (std::size_t j = 0; j < columns; ++j) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < parts; ++r) {
          Number* const to = c + j * p.stride + r * width;
          const V product = p.alpha * sum[j][r];
          store(to, p.beta == 0 ? product : product + p.beta * load(to));
        }
      }
      return;
    }
    Number left[columns][rows];
    __builtin_memcpy(left, sum, sizeof left);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < m; ++i) {
        Number& to = c[i + j * p.stride];
        const Number product = p.alpha * left[j][i];
        to = p.beta == 0 ? product : product + p.beta * to;
      }
  }
};

}  // namespace gdr::dense
