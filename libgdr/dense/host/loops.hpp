// The functions for a vector length: C -= A B by the loops of Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", ACM TOMS 34, 2008.
//
//   jc, ic        pieces of C of nc columns and mc rows: the caller's (subtract_on_host)
//   pc            blocks of kc inner indices: packs A and B
//   jr            strips of nr columns of B
//   ir            panels of mr rows of A
//   micro-kernel  mr x nr sums in registers
//
// Included by one file for each instruction set, with a `Host` of its own, so that no symbols are
// shared.
#pragma once

#include "libgdr/dense/host/batch_loops.hpp"
#include "libgdr/dense/host/factor_loops.hpp"
#include "libgdr/dense/host/functions.hpp"

namespace gdr::dense {

/// A vector has `Host::width` doubles, `Host::bytes` bytes; `Host::parts` x `Host::columns` vectors
/// of sums fill the registers: mr = parts x width, nr = columns.
template <class Host>
class HostLoops {
 public:
  static std::size_t scratch(std::size_t m, std::size_t n) {
    return product_kc * ((m + mr - 1) / mr * mr + (n + nr - 1) / nr * nr);
  }

  /// Loop pc: blocks of kc inner indices, in order. Both factors are packed here, because the
  /// caller's piece of C is all that a thread computes of it.
  static void subtract_product(const HostProduct& p) {
    for (std::size_t first = 0; first < p.k; first += product_kc) {
      const std::size_t depth = p.k - first < product_kc ? p.k - first : product_kc;
      double* const a = p.scratch;
      double* const b = a + (p.m + mr - 1) / mr * mr * product_kc;
      pack<mr>(p.a.data + first * p.a.across, p.a.down, p.a.across, p.m, depth, a);
      pack<nr>(p.b.data + first * p.b.down, p.b.across, p.b.down, p.n, depth, b);
      loop_jr({a, b, depth}, p);
    }
  }

  using Batches = BatchLoops<Host>;
  static constexpr HostFunctions functions{
      Host::isa,      scratch,         subtract_product, FactorLoops<Host>::functions(),
      Batches::lanes, Batches::factor, Batches::solve,   Batches::multiply};

 private:
  static constexpr std::size_t width = Host::width, parts = Host::parts;
  static constexpr std::size_t mr = parts * width, nr = Host::columns;
  typedef double V __attribute__((vector_size(width * sizeof(double))));

  /// A block of inner indices of both factors: [panel][index][row], [strip][index][column].
  struct Packed {
    const double *a, *b;
    std::size_t depth;
  };

  static V load(const double* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(double* p, V v) { __builtin_memcpy(p, &v, sizeof v); }

  /// Packs `Count` vectors of a factor interleaved by index, padded with zeros.
  template <std::size_t Count>
  static void pack(const double* from, std::size_t next_vector, std::size_t next_index,
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

  /// Loop jr: strips of nr columns. A strip of B, kc x nr, stays in the first-level cache.
  static void loop_jr(const Packed& block, const HostProduct& p) {
    for (std::size_t j = 0; j < p.n; j += nr) loop_ir(block, p, j);
  }

  /// Loop ir: panels of mr rows, which stream from the second-level cache.
  static void loop_ir(const Packed& block, const HostProduct& p, std::size_t j) {
    for (std::size_t i = 0; i < p.m; i += mr)
      micro_kernel(block.a + i * block.depth, block.b + j * block.depth, block.depth, p, i, j);
  }

  /// mr x nr elements of C from `row` and `column` on. Products are rounded before they are added.
  static void micro_kernel(const double* a, const double* b, std::size_t depth,
                           const HostProduct& p, std::size_t row, std::size_t column) {
    V sum[nr][parts] = {};
    for (std::size_t l = 0; l < depth; ++l, a += mr, b += nr) {
      V x[parts];
#pragma GCC unroll 16
      for (std::size_t r = 0; r < parts; ++r) x[r] = load(a + r * width);
#pragma GCC unroll 16
      for (std::size_t j = 0; j < nr; ++j) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < parts; ++r) sum[j][r] += x[r] * b[j];
      }
    }
    const std::size_t m = p.m - row < mr ? p.m - row : mr;
    const std::size_t n = p.n - column < nr ? p.n - column : nr;
    double* const c = p.c + row + column * p.stride;
    if (m == mr && n == nr) {
#pragma GCC unroll 16
      for (std::size_t j = 0; j < nr; ++j) {
#pragma GCC unroll 16
        for (std::size_t r = 0; r < parts; ++r) {
          double* const to = c + j * p.stride + r * width;
          store(to, load(to) - sum[j][r]);
        }
      }
      return;
    }
    double left[nr][mr];
    __builtin_memcpy(left, sum, sizeof left);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < m; ++i) c[i + j * p.stride] -= left[j][i];
  }
};

}  // namespace gdr::dense
