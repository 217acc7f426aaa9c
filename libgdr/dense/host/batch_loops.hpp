// The functions of small matrices for a vector length: every lane computes one problem of a batch.
//
// Included by one file for each instruction set, with a `Host` of its own (see loops.hpp).
#pragma once

#include <cstdint>

#include "libgdr/dense/host/functions.hpp"

namespace gdr::dense {

template <class Host>
class BatchLoops {
 public:
  static constexpr std::size_t lanes = Host::width;

  static std::uint64_t factor(std::size_t n, const HostBatch& a, std::size_t count,
                              std::int64_t* pivots) {
    V x[batch_words];
    load(a, n, n, count, x);
    for (std::size_t k = 0; k < n; ++k) {
      long rows[lanes];
      find_largest(x + k * n, k, n, rows);
      for (std::size_t lane = 0; lane < count; ++lane) {
        const auto row = static_cast<std::size_t>(rows[lane]);
        pivots[lane * n + k] = rows[lane];
        if (row == k) continue;
        double* const words = reinterpret_cast<double*>(x) + lane;
        for (std::size_t c = 0; c < n; ++c)
          exchange(words[(k + c * n) * lanes], words[(row + c * n) * lanes]);
      }
      const V pivot = x[k + k * n];
      V* const column = x + k * n;
      for (std::size_t r = k + 1; r < n; ++r) column[r] /= pivot;
      for (std::size_t c = k + 1; c < n; ++c) {
        V* const to = x + c * n;
        const V top = to[k];
        for (std::size_t r = k + 1; r < n; ++r) to[r] -= column[r] * top;
      }
    }
    const std::uint64_t irregular = not_finite(x, n * n, count) | zero_pivots(x, n, count);
    store(x, n, n, count, irregular, a);
    return irregular;
  }

  static void solve(std::size_t n, std::size_t columns, const HostFactors& lu, std::size_t count,
                    const HostBatch& b) {
    V t[batch_words];
    const HostBatch factors{const_cast<double*>(lu.data), lu.stride, lu.step};
    load(factors, n, n, count, t);
    V x[batch_words];
    for (std::size_t c = 0; c < columns; ++c) {
      const HostBatch column{b.data + c * b.stride, n, b.step};
      load(column, n, 1, count, x);
      for (std::size_t lane = 0; lane < count; ++lane) {
        double* const words = reinterpret_cast<double*>(x) + lane;
        for (std::size_t r = 0; r < n; ++r)
          exchange(words[r * lanes],
                   words[static_cast<std::size_t>(lu.pivots[lane * n + r]) * lanes]);
      }
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t r = k + 1; r < n; ++r) x[r] -= t[r + k * n] * x[k];
      for (std::size_t k = n; k-- > 0;) {
        x[k] /= t[k + k * n];
        for (std::size_t r = 0; r < k; ++r) x[r] -= t[r + k * n] * x[k];
      }
      store(x, n, 1, count, 0, column);
    }
  }

  static void multiply(const HostBatchProduct& p, std::size_t count) {
    V a[batch_words], b[batch_words], c[batch_words];
    load(p.a, p.m, p.k, count, a);
    load(p.b, p.k, p.n, count, b);
    for (std::size_t j = 0; j < p.n; ++j)
      for (std::size_t i = 0; i < p.m; ++i) {
        V sum = {};
        for (std::size_t l = 0; l < p.k; ++l) sum += a[i + l * p.m] * b[l + j * p.k];
        c[i + j * p.m] = sum;
      }
    store(c, p.m, p.n, count, 0, p.c);
  }

 private:
  typedef double V __attribute__((vector_size(lanes * sizeof(double))));
  typedef long I __attribute__((vector_size(lanes * sizeof(long))));

  static void exchange(double& a, double& b) {
    const double kept = a;
    a = b;
    b = kept;
  }

  /// Matrix i of the batch to lane i; unused lanes repeat the first matrix.
  static void load(const HostBatch& from, std::size_t rows, std::size_t columns, std::size_t count,
                   V* to) {
    double* word = reinterpret_cast<double*>(to);
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r, word += lanes) {
        const double* const first = from.data + r + c * from.stride;
        for (std::size_t lane = 0; lane < lanes; ++lane)
          word[lane] = first[lane < count ? lane * from.step : 0];
      }
  }

  /// Lane i to matrix i of the batch, except lanes with a bit in `omitted`.
  static void store(const V* from, std::size_t rows, std::size_t columns, std::size_t count,
                    std::uint64_t omitted, const HostBatch& to) {
    const double* word = reinterpret_cast<const double*>(from);
    for (std::size_t lane = 0; lane < count; ++lane) {
      if ((omitted >> lane & 1) != 0) continue;
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t r = 0; r < rows; ++r)
          to.data[r + c * to.stride + lane * to.step] = word[(r + c * rows) * lanes + lane];
    }
  }

  /// The first row with the largest size among the elements k ... n - 1 of a column.
  static void find_largest(const V* column, std::size_t k, std::size_t n, long* rows) {
    V best = size(column[k]);
    I first = I{} + static_cast<long>(k);
    for (std::size_t r = k + 1; r < n; ++r) {
      const V next = size(column[r]);
      const I larger = next > best;
      best = larger ? next : best;
      first = larger ? I{} + static_cast<long>(r) : first;
    }
    __builtin_memcpy(rows, &first, sizeof first);
  }
  static V size(V x) { return x < 0.0 ? -x : x; }

  /// Lanes in which an element is infinite or not a number, as bits.
  static std::uint64_t not_finite(const V* x, std::size_t n, std::size_t count) {
    V sum = {};
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * 0.0;
    return bits(sum != 0.0, count);
  }
  static std::uint64_t zero_pivots(const V* x, std::size_t n, std::size_t count) {
    I zero = {};
    for (std::size_t k = 0; k < n; ++k) zero |= x[k + k * n] == 0.0;
    return bits(zero, count);
  }
  static std::uint64_t bits(I mask, std::size_t count) {
    long set[lanes];
    __builtin_memcpy(set, &mask, sizeof mask);
    std::uint64_t found = 0;
    for (std::size_t lane = 0; lane < count; ++lane)
      found |= static_cast<std::uint64_t>(set[lane] != 0) << lane;
    return found;
  }
};

}  // namespace gdr::dense
