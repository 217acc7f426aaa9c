// Sums of products in the host's doubles: columns side by side, all blocks and chips in one sum.
//
// The factors are taken in slabs of the inner dimension, as fast matrix products do (Goto and van
// de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008): a slab of what
// stands in the PEs stays in the second cache while all items pass by, some columns of these in the
// first. There they are copied to lie apart; the next ones are copied while those before are
// multiplied, and those behind them are sent for.
#pragma once

#include "emulator/engine/products/fast_kernels.hpp"
#include "emulator/engine/products/long_factor.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set; `Host::panels` panels and `Host::columns` columns fill
/// the registers.
template <class Host>
class FastProducts {
 public:
  static void run(const FastTask& t) {
    double* here = t.scratch;
    double* next = t.scratch + Host::columns * fast_apart;
    for (std::size_t j = 0; j < Host::columns && j < t.columns; ++j)
      copy(t.items[j], t.depth, here + j * fast_apart);
    for (std::size_t column = 0; column < t.columns; column += Host::columns) {
      some_columns<Host::columns>(t, {column, t.columns - column, here, next});
      double* const done = here;
      here = next;
      next = done;
    }
  }

  static void take(const FastSquare& square) {
    static constexpr std::uint64_t zeros[fast_lanes] = {};
    std::uint64_t words[fast_lanes][fast_lanes];
    for (std::size_t w = 0; w < fast_lanes; ++w) {
      const std::uint64_t* const upper = square.upper[w];
      const std::uint64_t* const lower = square.lower != 0 ? upper + square.lower : zeros;
      for (std::size_t pe = 0; pe < fast_lanes; ++pe)
        words[w][pe] = long_factor(upper[pe], lower[pe]);
    }
    for (std::size_t pe = 0; pe < fast_lanes; ++pe) {
      std::uint64_t lanes[fast_lanes];
      for (std::size_t w = 0; w < fast_lanes; ++w) lanes[w] = words[w][pe];
      __builtin_memcpy(square.to + pe * square.step, lanes, sizeof lanes);
    }
  }

 private:
  using V = typename Host::V;
  static constexpr std::size_t width = Host::width;
  static constexpr std::size_t parts = fast_lanes / width;
  static constexpr std::size_t line = 8;  ///< doubles of a line of the cache
  static_assert(fast_columns % Host::columns == 0);

  /// Columns from `first` on, `left` of them in the task: copied to `here`; `next` is for those
  /// that come after them.
  struct Columns {
    std::size_t first, left;
    const double* here;
    double* next;
  };
  /// Part of what a tile does for columns to come: one that is copied, one that is sent for.
  struct Ahead {
    const double* from;
    double* to;
    const double* far;
  };

  static void copy(const double* from, std::size_t n, double* to) {
    for (std::size_t k = 0; k < n; ++k) to[k] = from[k];
  }

  /// As many columns as there are, up to `Most`.
  template <std::size_t Most>
  static void some_columns(const FastTask& t, const Columns& c) {
    if (c.left >= Most) return all_panels<Most>(t, c);
    if constexpr (Most > 1) some_columns<Most - 1>(t, c);
  }

  template <std::size_t Count>
  static void all_panels(const FastTask& t, const Columns& c) {
    // Each tile copies one of the columns that come next, and sends for one behind them.
    const std::size_t next = c.first + Count, left = c.left - Count;
    const std::size_t wanted = left < Host::columns ? left : Host::columns;
    std::size_t tiles = 0;
    const auto ahead = [&] {
      const std::size_t j = tiles++, far = next + Host::columns + j;
      double* const spare = t.scratch + 2 * Host::columns * fast_apart;
      return Ahead{j < wanted ? t.items[next + j] : c.here,
                   j < wanted ? c.next + j * fast_apart : spare,
                   j < Host::columns && far < t.items_known ? t.items[far] : c.here};
    };
    std::size_t panel = 0;
    for (; panel + Host::panels <= t.panels; panel += Host::panels)
      tile<Host::panels, Count>(t, panel, c, ahead());
    for (; panel < t.panels; ++panel) tile<1, Count>(t, panel, c, ahead());
    for (std::size_t j = tiles; j < wanted; ++j)
      copy(t.items[next + j], t.depth, c.next + j * fast_apart);
  }

  template <std::size_t Panels, std::size_t Count>
  using Sums = V[Count][Panels * parts];

  /// One factor of each output and column.
  template <std::size_t Panels, std::size_t Count>
  [[gnu::always_inline]] static void add(const double* a, std::size_t panel_size,
                                         const double* items, Sums<Panels, Count>& sums) {
    V numbers[Panels * parts];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Panels * parts; ++r)
      numbers[r] = Host::load(a + r / parts * panel_size + r % parts * width);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Count; ++j) {
      const V one = Host::all(items[j * fast_apart]);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Panels * parts; ++r)
        sums[j][r] = Host::fma(numbers[r], one, sums[j][r]);
    }
  }

  template <std::size_t Panels, std::size_t Count>
  static void tile(const FastTask& t, std::size_t panel, const Columns& c, const Ahead& ahead) {
    constexpr std::size_t rows = Panels * parts;
    const std::size_t panel_size = t.depth * fast_lanes;
    const double* a = t.numbers + panel * panel_size;
    const double* const before =
        t.before == nullptr ? nullptr : t.before + c.first * t.before_step + panel * fast_lanes;
    double* const to = t.sums + c.first * t.sums_step + panel * fast_lanes;
    // They are needed when the slab is done.
    for (std::size_t j = 0; j < Count; ++j)
      for (std::size_t p = 0; before != nullptr && p < Panels; ++p)
        __builtin_prefetch(before + j * t.before_step + p * line);
    Sums<Panels, Count> sums;
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Count; ++j) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) sums[j][r] = Host::all(0);
    }
    const double *items = c.here, *const from = ahead.from, *const far = ahead.far;
    double* const copied = ahead.to;
    std::size_t k = 0;
    for (; k + line <= t.depth; k += line, a += line * fast_lanes, items += line) {
      __builtin_prefetch(far + k, 0, 2);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < line; i += width)
        Host::store(copied + k + i, Host::load(from + k + i));
#pragma GCC unroll 8
      for (std::size_t i = 0; i < line; ++i)
        add<Panels, Count>(a + i * fast_lanes, panel_size, items + i, sums);
    }
    for (; k < t.depth; ++k, a += fast_lanes, ++items) {
      copied[k] = from[k];
      add<Panels, Count>(a, panel_size, items, sums);
    }
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Count; ++j) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) {
        V sum = sums[j][r];
        if (before != nullptr)
          sum = Host::add(Host::load(before + j * t.before_step + r * width), sum);
        if (t.ends) sum = Host::canonical(sum);
        Host::store(to + j * t.sums_step + r * width, sum);
      }
    }
  }
};

}  // namespace gdr
