// Sums of products in the host's doubles: columns side by side, all blocks and chips in one sum.
#pragma once

#include "emulator/engine/products/kernels.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set; `Host::panels` panels and `Host::columns` columns fill
/// the registers.
template <class Host>
class FastProducts {
 public:
  static std::size_t scratch(const ProductTask& /*task*/) { return 0; }

  static std::uint64_t run(const ProductTask& t) {
    for (std::size_t panel = 0; panel < t.factors.panels; panel += Host::panels) {
      const std::size_t panels =
          t.factors.panels - panel < Host::panels ? t.factors.panels - panel : Host::panels;
      for (std::size_t column = 0; column < t.columns; column += Host::columns) {
        const std::size_t columns =
            t.columns - column < Host::columns ? t.columns - column : Host::columns;
        if (panels == Host::panels) {
          some_columns<Host::panels, Host::columns>(t, panel, column, columns);
        } else {
          for (std::size_t p = panel; p < panel + panels; ++p)
            some_columns<1, Host::columns>(t, p, column, columns);
        }
      }
    }
    return 0;
  }

 private:
  using V = typename Host::V;
  static constexpr std::size_t width = Host::width;
  static constexpr std::size_t parts = panel_lanes / width;

  template <std::size_t Panels, std::size_t Most>
  static void some_columns(const ProductTask& t, std::size_t panel, std::size_t column,
                           std::size_t columns) {
    if (columns == Most) return tile<Panels, Most>(t, panel, column);
    if constexpr (Most > 1) some_columns<Panels, Most - 1>(t, panel, column, columns);
  }

  template <std::size_t Panels, std::size_t Columns>
  static void tile(const ProductTask& t, std::size_t panel, std::size_t column) {
    constexpr std::size_t rows = Panels * parts;
    const std::size_t depth = t.factors.blocks * t.factors.depth;
    const std::size_t panel_size = t.factors.chips * depth * panel_lanes;
    V sum[Columns][rows];
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Columns; ++j) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) sum[j][r] = Host::all(0);
    }
    const double* a = t.factors.numbers + panel * panel_size;
    for (std::size_t chip = 0; chip < t.factors.chips; ++chip) {
      const double* items[Columns];
#pragma GCC unroll 16
      for (std::size_t j = 0; j < Columns; ++j)
        items[j] =
            reinterpret_cast<const double*>(t.records[(column + j) * t.factors.chips + chip]);
      for (std::size_t k = 0; k < depth; ++k, a += panel_lanes) {
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
          const V item = Host::all(items[j][k]);
#pragma GCC unroll 16
          for (std::size_t r = 0; r < rows; ++r) sum[j][r] = Host::fma(numbers[r], item, sum[j][r]);
        }
      }
    }
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Columns; ++j) {
      double* const to = t.sums + ((column + j) * t.factors.panels + panel) * panel_lanes;
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) Host::store(to + r * width, sum[j][r]);
    }
  }
};

}  // namespace gdr
