// Eigen multiplies pieces whose cut depends on the shape only, so that threads and the host's
// caches do not change the order of any sum.
#include "libgdr/dense/updates.hpp"

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <algorithm>

#include "libgdr/dense/tiles.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

constexpr std::size_t piece_rows = 512, piece_columns = 64;
/// Below what Eigen takes at once on any host with a first cache of 16 KiB.
constexpr std::size_t piece_depth = 192;
/// Operations from which threads pay.
constexpr double threads_from = 1e6;

template <int order>
auto mapped(const MatrixView<const double>& x, std::size_t rows, std::size_t columns) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, order>;
  using Index = Eigen::Index;
  return Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(
      x.data, static_cast<Index>(rows), static_cast<Index>(columns),
      Eigen::OuterStride<>(static_cast<Index>(x.stride)));
}

/// A transposed matrix is one by rows.
template <int order_a, int order_b>
void subtract_piece(std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
                    const MatrixView<const double>& b, const MatrixView<double>& c) {
  using Index = Eigen::Index;
  Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>> result(
      c.data, static_cast<Index>(m), static_cast<Index>(n),
      Eigen::OuterStride<>(static_cast<Index>(c.stride)));
  for (std::size_t first = 0; first < k; first += piece_depth) {
    const std::size_t depth = std::min(piece_depth, k - first);
    result.noalias() -=
        mapped<order_a>(from(a, 0, first), m, depth) * mapped<order_b>(from(b, first, 0), depth, n);
  }
}

/// Of a dimension that is rounded up to whole units.
double filled(std::size_t n, std::size_t unit) noexcept {
  return static_cast<double>(n) / static_cast<double>((n + unit - 1) / unit * unit);
}

}  // namespace

bool device_pays(std::size_t m, std::size_t n, std::size_t k, std::size_t depth,
                 double flops) noexcept {
  if (m == 0 || n == 0 || k == 0) return false;
  if (flops <= 0) return true;
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >= flops &&
         filled(m, tile_rows) * filled(k, depth) >= 1.0 / 16;
}

void subtract_on_host(std::size_t m, std::size_t n, std::size_t k,
                      const MatrixView<const double>& a, const MatrixView<const double>& b,
                      const MatrixView<double>& c, unsigned threads) {
  constexpr int by_columns = Eigen::ColMajor, by_rows = Eigen::RowMajor;
  using Piece = decltype(&subtract_piece<by_columns, by_columns>);
  constexpr Piece pieces[2][2] = {
      {subtract_piece<by_columns, by_columns>, subtract_piece<by_columns, by_rows>},
      {subtract_piece<by_rows, by_columns>, subtract_piece<by_rows, by_rows>}};
  if (m == 0 || n == 0 || k == 0) return;
  const Piece piece = pieces[a.transpose == Transpose::Yes][b.transpose == Transpose::Yes];
  const std::size_t down = (m + piece_rows - 1) / piece_rows;
  const auto count = static_cast<std::ptrdiff_t>(down * ((n + piece_columns - 1) / piece_columns));
  [[maybe_unused]] const bool many =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > threads_from;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads)) if (many)
  for (std::ptrdiff_t p = 0; p < count; ++p) {
    const std::size_t row = static_cast<std::size_t>(p) % down * piece_rows;
    const std::size_t column = static_cast<std::size_t>(p) / down * piece_columns;
    piece(std::min(piece_rows, m - row), std::min(piece_columns, n - column), k, from(a, row, 0),
          from(b, 0, column), from(c, row, column));
  }
}

}  // namespace gdr::dense
