// The functions of direct products for a vector length: packing, and the inner two of Goto's loops
// (direct.cpp has the outer ones) around the micro-kernel, mr x nr sums in registers.
//
// Included by one file for each instruction set, with a `Host` of its own, so that no symbols are
// shared.
#pragma once

#include "libgdr/dense/host/direct.hpp"
#include "libgdr/dense/host/transpose.hpp"

namespace gdr::dense {

/// A vector has `Host::bytes` bytes; `Host::parts` x `Host::columns` vectors of sums fill the
/// registers: mr = parts x numbers of a vector, nr = columns.
template <class Host, typename Number>
class DirectLoops {
 public:
  static constexpr DirectFunctions<Number> functions() {
    return {mr, width, nr, pack<mr>, pack<nr>, loop_jr};
  }

 private:
  static constexpr std::size_t width = Host::bytes / sizeof(Number), parts = Host::parts;
  static constexpr std::size_t mr = parts * width, nr = Host::columns;
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
      if (n == Count && next_vector == 1) {
        for (std::size_t l = 0; l < depth; ++l)
          __builtin_memcpy(to + l * Count, at + l * next_index, Count * sizeof(Number));
        continue;
      }
      std::size_t l = 0;
      if (n == Count && next_index == 1) l = transpose<Count>(at, next_vector, depth, to);
      for (; l < depth; ++l)
        for (std::size_t i = 0; i < Count; ++i)
          to[l * Count + i] = i < n ? at[i * next_vector + l * next_index] : 0;
    }
  }

  /// Squares that divide `Count` vectors.
  template <std::size_t Count>
  struct Square {
    static constexpr std::size_t divisor = Count & (~Count + 1),
                                 bytes = (divisor < width ? divisor : width) * sizeof(Number);
  };
  /// Packs `Count` vectors of contiguous numbers. Returns how many indices, whole squares of them.
  template <std::size_t Count>
  static std::size_t transpose(const Number* from, std::size_t next_vector, std::size_t depth,
                               Number* to) {
    using Squares = Transposition<Square<Count>, Number>;
    constexpr std::size_t size = Squares::width;
    std::size_t l = 0;
    for (; l + size <= depth; l += size)
      for (std::size_t first = 0; first < Count; first += size) {
        typename Squares::V square[size];
#pragma GCC unroll 16
        for (std::size_t q = 0; q < size; ++q)
          __builtin_memcpy(&square[q], from + (first + q) * next_vector + l, sizeof square[q]);
        Squares::transpose(square);
#pragma GCC unroll 16
        for (std::size_t q = 0; q < size; ++q)
          __builtin_memcpy(to + (l + q) * Count + first, &square[q], sizeof square[q]);
      }
    return l;
  }

  /// The rows of a panel that a product needs: those from `first` to `end`, of its rows from `row`
  /// on in the columns from `column` on.
  struct Rows {
    std::size_t first = 0, end;
    Rows(const DirectBlock<Number>& p, std::size_t row, std::size_t column)
        : end(p.m - row < mr ? p.m - row : mr) {
      if (p.part == DirectPart::All) return;
      const std::ptrdiff_t above = difference(column, row) - p.diagonal;  // rows above the diagonal
      if (p.part == DirectPart::Lower) {
        if (above > 0)
          first = static_cast<std::size_t>(above) < end ? static_cast<std::size_t>(above) : end;
      } else {
        const std::ptrdiff_t needed = above + static_cast<std::ptrdiff_t>(nr);
        if (needed <= 0)
          end = 0;
        else if (static_cast<std::size_t>(needed) < end)
          end = static_cast<std::size_t>(needed);
      }
    }
  };
  static std::ptrdiff_t difference(std::size_t a, std::size_t b) {
    return static_cast<std::ptrdiff_t>(a) - static_cast<std::ptrdiff_t>(b);
  }

  /// Loop jr: strips of nr columns. A strip of B, kc x nr, stays in the first-level cache.
  static void loop_jr(const DirectBlock<Number>& p) {
    for (std::size_t j = 0; j < p.n; j += nr) loop_ir(p, j);
  }

  /// Loop ir: panels of mr rows, which stream from the second-level cache; only the vectors that
  /// have elements of the computed part of C.
  static void loop_ir(const DirectBlock<Number>& p, std::size_t j) {
    for (std::size_t i = 0; i < p.m; i += mr) {
      const Rows needed(p, i, j);
      if (needed.first >= needed.end) continue;
      const std::size_t skipped = needed.first / width;
      const std::size_t vectors = (needed.end + width - 1) / width - skipped;
      some_vectors<parts>(vectors, p.a + i * p.depth + skipped * width, p.b + j * p.depth, p,
                          i + skipped * width, j);
    }
  }

  /// The micro-kernel for so many vectors, at most `Vectors`.
  template <std::size_t Vectors>
  static void some_vectors(std::size_t vectors, const Number* a, const Number* b,
                           const DirectBlock<Number>& p, std::size_t row, std::size_t column) {
    if constexpr (Vectors > 1)
      if (vectors < Vectors) return some_vectors<Vectors - 1>(vectors, a, b, p, row, column);
    micro_kernel<Vectors>(a, b, p, row, column);
  }

  /// `Vectors` vectors of rows, at most mr, times nr columns.
  template <std::size_t Vectors>
  static void micro_kernel(const Number* a, const Number* b, const DirectBlock<Number>& p,
                           std::size_t row, std::size_t column) {
    Number* const c = p.c + row + column * p.stride;
    const std::size_t m = p.m - row < Vectors * width ? p.m - row : Vectors * width;
    const std::size_t n = p.n - column < nr ? p.n - column : nr;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t r = 0; r < Vectors; ++r)
        __builtin_prefetch(c + j * p.stride + (r * width < m ? r * width : 0), 1);
    V sum[nr][Vectors] = {};
#pragma GCC unroll 4
    for (std::size_t l = 0; l < p.depth; ++l, a += mr, b += nr) {
      V x[Vectors];
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Vectors; ++r) x[r] = load(a + r * width);
#pragma GCC unroll 16
      for (std::size_t j = 0; j < nr; ++j) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < Vectors; ++r) sum[j][r] += x[r] * b[j];
      }
    }
    if (m < Vectors * width || n < nr || crosses_diagonal(p, row, column, m))
      return store_part(p, row, column, m, n, sum[0], Vectors);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < nr; ++j) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Vectors; ++r) update(c + j * p.stride + r * width, sum[j][r], p);
    }
  }

  /// Every product is rounded, here and for parts of vectors: which of the two is fused with the
  /// sum would be the compiler's choice.
  static void update(Number* to, V sum, const DirectBlock<Number>& p) {
    const V product = rounded(p.alpha * sum);
    store(to, p.beta == 0 ? product : product + rounded(p.beta * load(to)));
  }
  static V rounded(V x) {
#if defined(__x86_64__)
    asm("" : "+x"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#endif
    return x;
  }

  /// Whether some of the micro-kernel's elements are not computed.
  static bool crosses_diagonal(const DirectBlock<Number>& p, std::size_t row, std::size_t column,
                               std::size_t m) {
    if (p.part == DirectPart::All) return false;
    const std::ptrdiff_t above = difference(column, row) - p.diagonal;
    return p.part == DirectPart::Lower ? above + static_cast<std::ptrdiff_t>(nr) > 1
                                       : above < static_cast<std::ptrdiff_t>(m) - 1;
  }

  /// Stores sums that have fewer rows or columns, or cross the diagonal.
  static void store_part(const DirectBlock<Number>& p, std::size_t row, std::size_t column,
                         std::size_t m, std::size_t n, const V* sums, std::size_t vectors) {
    for (std::size_t j = 0; j < n; ++j, sums += vectors) {
      const std::ptrdiff_t on = difference(column + j, row) - p.diagonal;  // row of the diagonal
      const std::ptrdiff_t begin = p.part == DirectPart::Lower && on > 0 ? on : 0;
      std::ptrdiff_t end = static_cast<std::ptrdiff_t>(m);
      if (p.part == DirectPart::Upper && on + 1 < end) end = on + 1;
      Number* const c = p.c + row + (column + j) * p.stride;
      constexpr auto step = static_cast<std::ptrdiff_t>(width);
      for (std::ptrdiff_t i = begin; i < end;) {
        const V sum = sums[i / step];
        // The same operations for a part of a vector, since threads divide the rows.
        const std::ptrdiff_t next = i - i % step + step, last = next < end ? next : end;
        if (last - i == step) {
          update(c + i, sum, p);
        } else {
          Number some[width] = {};
          for (std::ptrdiff_t l = i; l < last && p.beta != 0; ++l) some[l % step] = c[l];
          update(some, sum, p);
          for (std::ptrdiff_t l = i; l < last; ++l) c[l] = some[l % step];
        }
        i = last;
      }
    }
  }
};

}  // namespace gdr::dense
