// The functions of factorisations for a vector length: panels of LU, triangles of Cholesky,
// substitutions.
//
// Every element is computed by the same operations in the same order for any vector length: its
// products are subtracted one after the other, then it is divided. Included as loops.hpp.
#pragma once

#include "libgdr/dense/host/functions.hpp"
#include "libgdr/dense/host/transpose.hpp"

namespace gdr::dense {

/// A vector has `Host::bytes` bytes.
template <class Host>
class FactorLoops {
 public:
  static constexpr FactorFunctions functions() {
    return {factor_columns, factor_triangle, solve_across, solve_along};
  }

 private:
  static constexpr std::size_t width = Host::bytes / sizeof(double);
  typedef double V __attribute__((vector_size(Host::bytes)));
  typedef long I __attribute__((vector_size(Host::bytes)));

  static V load(const double* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(double* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
  static void exchange(double& a, double& b) {
    const double kept = a;
    a = b;
    b = kept;
  }

  /// The columns left of one that eliminate in it, and their elements of U in it.
  struct Known {
    std::size_t count = 0;
    const double* l[narrowest_panel];
    double u[narrowest_panel];
  };

  /// The largest elements so far, by lane.
  template <std::size_t Parts>
  struct Largest {
    V size[Parts];
    I row[Parts];
  };

  /// Eliminates in `Parts` vectors of a column from a row on, and compares their sizes.
  template <std::size_t Parts>
  static void eliminate(double* column, const Known& known, std::size_t row,
                        Largest<Parts>& largest) {
    V x[Parts];
#pragma GCC unroll 8
    for (std::size_t p = 0; p < Parts; ++p) x[p] = load(column + row + p * width);
    for (std::size_t k = 0; k < known.count; ++k) {
      const double* const l = known.l[k] + row;
#pragma GCC unroll 8
      for (std::size_t p = 0; p < Parts; ++p) x[p] -= load(l + p * width) * known.u[k];
    }
#pragma GCC unroll 8
    for (std::size_t p = 0; p < Parts; ++p) {
      store(column + row + p * width, x[p]);
      const V size = reinterpret_cast<V>(reinterpret_cast<I>(x[p]) & ~(1L << 63));
      const I larger = size > largest.size[p];
      largest.size[p] = larger ? size : largest.size[p];
      largest.row[p] = larger ? I{} + static_cast<long>(row) : largest.row[p];
    }
  }

  /// The first row of the largest element.
  struct Pivot {
    double size = -1;
    std::size_t row;
    void compare(double other, std::size_t at) {
      if (!(other > size) && !(other == size && at < row)) return;
      size = other;
      row = at;
    }
  };

  template <std::size_t Parts>
  static std::size_t eliminate_from(double* column, const Known& known, std::size_t row,
                                    std::size_t m, Pivot& pivot) {
    if (row + Parts * width > m) return row;
    Largest<Parts> largest;
    for (std::size_t p = 0; p < Parts; ++p) {
      largest.size[p] = V{} - 1.0;
      largest.row[p] = I{};
    }
    for (; row + Parts * width <= m; row += Parts * width)
      eliminate<Parts>(column, known, row, largest);
    for (std::size_t p = 0; p < Parts; ++p)
      for (std::size_t lane = 0; lane < width; ++lane)
        if (largest.size[p][lane] >= 0)
          pivot.compare(largest.size[p][lane],
                        static_cast<std::size_t>(largest.row[p][lane]) + p * width + lane);
    return row;
  }

  /// Eliminates in the rows j ... m - 1 of column j. Returns the row of its largest element: a NaN
  /// is selected in row j only, as in the BLAS.
  static std::size_t eliminate_column(double* column, const Known& known, std::size_t j,
                                      std::size_t m) {
    Pivot pivot;
    pivot.row = j;
    std::size_t row = eliminate_from<4>(column, known, j, m, pivot);
    row = eliminate_from<1>(column, known, row, m, pivot);
    for (; row < m; ++row) {
      double x = column[row];
      for (std::size_t k = 0; k < known.count; ++k) x -= known.l[k][row] * known.u[k];
      column[row] = x;
      pivot.compare(x < 0 ? -x : x, row);
    }
    return column[j] != column[j] ? j : pivot.row;
  }

  static void divide(double* y, double divisor, std::size_t n) {
    std::size_t i = 0;
    for (; i + width <= n; i += width) store(y + i, load(y + i) / divisor);
    for (; i < n; ++i) y[i] /= divisor;
  }

  static std::size_t factor_columns(std::size_t m, std::size_t n, double* a, std::size_t stride,
                                    std::int64_t* pivots) {
    std::size_t zero = n;
    Known known;
    std::size_t number[narrowest_panel];
    for (std::size_t j = 0; j < n; ++j) {
      double* const column = a + j * stride;
      for (std::size_t i = 0; i < j; ++i)
        exchange(column[i], column[static_cast<std::size_t>(pivots[i])]);
      for (std::size_t k = 0; k < known.count; ++k) {
        const double u = column[number[k]];
        for (std::size_t r = number[k] + 1; r < j; ++r) column[r] -= known.l[k][r] * u;
        known.u[k] = u;
      }
      const std::size_t pivot = eliminate_column(column, known, j, m);
      pivots[j] = static_cast<std::int64_t>(pivot);
      if (column[pivot] == 0) {
        if (zero == n) zero = j;
        continue;  // the column is zero: nothing to eliminate
      }
      if (pivot != j)
        for (std::size_t c = 0; c <= j; ++c) exchange(a[j + c * stride], a[pivot + c * stride]);
      divide(column + j + 1, column[j], m - j - 1);
      known.l[known.count] = column;
      number[known.count++] = j;
    }
    return zero;
  }

  static std::size_t factor_triangle(std::size_t n, double* a) {
    constexpr std::size_t parts = (triangle_rows + width - 1) / width;
    for (std::size_t j = 0; j < n; ++j) {
      double* const column = a + j * triangle_rows;
      for (std::size_t p = j / width; p < parts; ++p) {
        V x = load(column + p * width);
        for (std::size_t k = 0; k < j; ++k) {
          const double* const before = a + k * triangle_rows;
          x -= load(before + p * width) * before[j];
        }
        store(column + p * width, x);
      }
      if (!(column[j] > 0)) return j;  // also for NaN
      const double root = __builtin_sqrt(column[j]);
      for (std::size_t p = j / width; p < parts; ++p)
        store(column + p * width, load(column + p * width) / root);
      column[j] = root;
    }
    return n;
  }

  /// Right-hand sides that are solved at the same time, in vectors.
  static constexpr std::size_t parts = 2, lanes = parts * width;

  /// Solves for `Rows` unknowns from one on; those before it are known.
  template <std::size_t Rows>
  static void substitute(const HostTriangle& s, std::size_t first, double* x, std::ptrdiff_t next) {
    double* const at = x + static_cast<std::ptrdiff_t>(first) * next;
    V sum[Rows][parts];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (std::size_t p = 0; p < parts; ++p)
        sum[r][p] = load(at + static_cast<std::ptrdiff_t>(r) * next + p * width);
    const double* t = s.t + first;
    for (const double* known = x; known != at; known += next, t += triangle_rows) {
#pragma GCC unroll 8
      for (std::size_t p = 0; p < parts; ++p) {
        const V y = load(known + p * width);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < Rows; ++r) sum[r][p] -= t[r] * y;
      }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (std::size_t p = 0; p < parts; ++p) {
#pragma GCC unroll 8
        for (std::size_t q = 0; q < r; ++q) sum[r][p] -= t[r + q * triangle_rows] * sum[q][p];
        if (!s.unit) sum[r][p] /= t[r + r * triangle_rows];
        store(at + static_cast<std::ptrdiff_t>(r) * next + p * width, sum[r][p]);
      }
  }

  static void substitute(const HostTriangle& s, double* x, std::ptrdiff_t next) {
    std::size_t i = 0;
    for (; i + 4 <= s.n; i += 4) substitute<4>(s, i, x, next);
    for (; i < s.n; ++i) substitute<1>(s, i, x, next);
  }

  static void solve_across(const HostTriangle& s, double* b, std::ptrdiff_t next,
                           std::size_t count) {
    for (; count >= lanes; count -= lanes, b += lanes) substitute(s, b, next);
    if (count == 0) return;
    double x[triangle_rows * lanes] = {};
    double* from = b;
    for (std::size_t i = 0; i < s.n; ++i, from += next)
      for (std::size_t l = 0; l < count; ++l) x[i * lanes + l] = from[l];
    substitute(s, x, lanes);
    for (std::size_t i = 0; i < s.n; ++i, b += next)
      for (std::size_t l = 0; l < count; ++l) b[l] = x[i * lanes + l];
  }

  /// A square of some columns and the same columns as rows, `lanes` apart in either direction.
  struct Square {
    double *columns, *rows;
    std::size_t stride;
    std::ptrdiff_t next_row;
    std::size_t m, n;
  };
  template <bool ToRows>
  static void transpose(const Square& s) {
    if (s.m < width || s.n < width) {
      for (std::size_t c = 0; c < s.n; ++c)
        for (std::size_t r = 0; r < s.m; ++r) {
          double& column = s.columns[r + c * s.stride];
          double& row =
              s.rows[static_cast<std::ptrdiff_t>(r) * s.next_row + static_cast<std::ptrdiff_t>(c)];
          (ToRows ? row : column) = ToRows ? column : row;
        }
      return;
    }
    V square[width];
#pragma GCC unroll 8
    for (std::size_t q = 0; q < width; ++q)
      square[q] = load(ToRows ? s.columns + q * s.stride
                              : s.rows + static_cast<std::ptrdiff_t>(q) * s.next_row);
    Transposition<Host, double>::transpose(square);
#pragma GCC unroll 8
    for (std::size_t q = 0; q < width; ++q)
      store(
          ToRows ? s.rows + static_cast<std::ptrdiff_t>(q) * s.next_row : s.columns + q * s.stride,
          square[q]);
  }
  /// Transposes between some columns of n elements, and unknowns `lanes` apart in their order.
  template <bool ToRows>
  static void transpose(double* columns, std::size_t stride, std::size_t count, double* x,
                        std::size_t n, bool forward) {
    const auto row = [&](std::size_t i) { return x + (forward ? i : n - 1 - i) * lanes; };
    const std::ptrdiff_t next = forward ? lanes : -static_cast<std::ptrdiff_t>(lanes);
    for (std::size_t i = 0; i < n; i += width)
      for (std::size_t l = 0; l < count; l += width)
        transpose<ToRows>({columns + i + l * stride, row(i) + l, stride, next,
                           n - i < width ? n - i : width, count - l < width ? count - l : width});
  }

  static void solve_along(const HostTriangle& s, double* b, bool forward, std::size_t stride,
                          std::size_t count) {
    alignas(64) double x[triangle_rows * lanes] = {};
    for (std::size_t v = 0; v < count; v += lanes, b += lanes * stride) {
      const std::size_t some = count - v < lanes ? count - v : lanes;
      transpose<true>(b, stride, some, x, s.n, forward);
      substitute(s, x, lanes);
      transpose<false>(b, stride, some, x, s.n, forward);
    }
  }
};

}  // namespace gdr::dense
