// Sums of products in the host's doubles: columns side by side, all blocks and chips in one sum.
//
// The factors are taken in chunks of the inner dimension, as fast matrix products do (Goto and van
// de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008): what stands in
// the PEs of a chunk fits the second cache, some columns of it the first, where they are copied to
// lie apart (items are a power of two apart in memory, and would share few of its lines).
#pragma once

#include "emulator/engine/products/kernels.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set; `Host::panels` panels and `Host::columns` columns fill
/// the registers.
template <class Host>
class FastProducts {
 public:
  static std::size_t scratch(const ProductTask& /*task*/) { return Host::columns * apart; }

  static std::uint64_t run(const ProductTask& t) {
    const std::size_t depth = t.factors.blocks * t.factors.depth;
    for (std::size_t chip = 0; chip < t.factors.chips; ++chip) {
      for (std::size_t k = 0; k < depth; k += chunk) {
        const Chunk part{chip, k, depth - k < chunk ? depth - k : chunk};
        for (std::size_t column = 0; column < t.columns; column += Host::columns) {
          const std::size_t left = t.columns - column;
          some_columns<Host::columns>(t, part, column, left);
        }
      }
    }
    return 0;
  }

 private:
  using V = typename Host::V;
  static constexpr std::size_t width = Host::width;
  static constexpr std::size_t parts = panel_lanes / width;
  static constexpr std::size_t chunk = 256;        ///< of the inner dimension
  static constexpr std::size_t apart = chunk + 8;  ///< doubles from a column to the next one

  struct Chunk {
    std::size_t chip, first, count;
  };

  /// As many columns as there are, up to `Most`.
  template <std::size_t Most>
  static void some_columns(const ProductTask& t, const Chunk& part, std::size_t column,
                           std::size_t columns) {
    if (columns >= Most) return all_panels<Most>(t, part, column);
    if constexpr (Most > 1) some_columns<Most - 1>(t, part, column, columns);
  }

  static const double* item(const ProductTask& t, const Chunk& part, std::size_t column) {
    return reinterpret_cast<const double*>(t.records[column * t.factors.chips + part.chip]) +
           part.first;
  }

  template <std::size_t Columns>
  static void all_panels(const ProductTask& t, const Chunk& part, std::size_t column) {
    for (std::size_t j = 0; j < Columns; ++j) {
      const double* const from = item(t, part, column + j);
      double* const to = t.scratch + j * apart;
      std::size_t k = 0;
      for (; k + width <= part.count; k += width) Host::store(to + k, Host::load(from + k));
      for (; k < part.count; ++k) to[k] = from[k];
    }
    // Those that come next come from far: each tile sends for one of them.
    std::size_t panel = 0, next = column + Columns;
    for (; panel + Host::panels <= t.factors.panels; panel += Host::panels, ++next)
      tile<Host::panels, Columns>(t, part, panel, column,
                                  item(t, part, next < t.columns ? next : column));
    for (; panel < t.factors.panels; ++panel)
      tile<1, Columns>(t, part, panel, column, item(t, part, column));
  }

  template <std::size_t Panels, std::size_t Columns>
  static void tile(const ProductTask& t, const Chunk& part, std::size_t panel, std::size_t column,
                   const double* next) {
    constexpr std::size_t rows = Panels * parts;
    const std::size_t depth = t.factors.blocks * t.factors.depth;
    const std::size_t panel_size = t.factors.chips * depth * panel_lanes;
    double* const sums = t.sums + (column * t.factors.panels + panel) * panel_lanes;
    const std::size_t sums_apart = t.factors.panels * panel_lanes;
    const bool begins = part.chip == 0 && part.first == 0;
    V sum[Columns][rows];
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Columns; ++j) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r)
        sum[j][r] = begins ? Host::all(0) : Host::load(sums + j * sums_apart + r * width);
    }
    const double* a =
        t.factors.numbers + panel * panel_size + (part.chip * depth + part.first) * panel_lanes;
    const double* items = t.scratch;
    for (std::size_t k = 0; k < part.count; ++k, a += panel_lanes, ++items, ++next) {
      __builtin_prefetch(next, 0, 2);
      V numbers[rows];
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r)
        numbers[r] = Host::load(a + r / parts * panel_size + r % parts * width);
        // The panels are in the second cache.
#pragma GCC unroll 16
      for (std::size_t p = 0; p < Panels; ++p)
        __builtin_prefetch(a + p * panel_size + 10 * panel_lanes);
#pragma GCC unroll 16
      for (std::size_t j = 0; j < Columns; ++j) {
        const V one = Host::all(items[j * apart]);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < rows; ++r) sum[j][r] = Host::fma(numbers[r], one, sum[j][r]);
      }
    }
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Columns; ++j) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r)
        Host::store(sums + j * sums_apart + r * width, sum[j][r]);
    }
  }
};

}  // namespace gdr
