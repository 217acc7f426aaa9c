// Recursive LU of a panel on the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gdr/matrix.hpp"

namespace gdr::dense {

/// Largest panel that is factorised column by column, columns.
constexpr std::size_t narrowest_panel = 16;

/// Default number of columns of a panel (LinearOptions::block); `depth` is the inner dimension of
/// one pass of a board.
constexpr std::size_t panel_columns(std::size_t n, std::size_t depth) noexcept {
  constexpr std::size_t least = 64, multiple = 32;
  const std::size_t eighth = (n / 8 + multiple - 1) / multiple * multiple;
  return std::min(std::max(eighth, least), std::max(depth, least));
}

/// P A = L U of m rows and pivots.size() <= m columns, in place; pivots count rows of this panel.
/// Returns the column of the first pivot that is exactly zero.
std::optional<std::size_t> factor_panel(std::size_t m, const MatrixView<double>& a,
                                        std::span<std::int64_t> pivots, unsigned threads);

/// Exchanges row i with row pivots[i] in n columns, i = 0, 1, ...
void exchange_rows(std::size_t n, const MatrixView<double>& a, std::span<const std::int64_t> pivots,
                   unsigned threads);
/// Reverses exchange_rows: from the last pivot to the first.
void restore_rows(std::size_t n, const MatrixView<double>& a, std::span<const std::int64_t> pivots,
                  unsigned threads);

}  // namespace gdr::dense
