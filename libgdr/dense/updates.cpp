// Products on the host, divided into blocks that depend on the shape only, so that the order of
// sums does not depend on threads or caches.
#include "libgdr/dense/updates.hpp"

#include <algorithm>
#include <vector>

#include "libgdr/dense/host/kernels.hpp"
#include "libgdr/dense/tiles.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

/// Block size: half of the L2 cache for a factor.
constexpr std::size_t piece_rows = 240, piece_columns = 240;
/// Products from which threads are used, multiplications.
constexpr double threads_from = 1e6;

HostFactor host_factor(const MatrixView<const double>& x) noexcept {
  const bool transposed = x.transpose == Transpose::Yes;
  return {x.data, transposed ? x.stride : 1, transposed ? 1 : x.stride};
}

/// Fraction of a dimension rounded up to whole units that is used.
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
  if (m == 0 || n == 0 || k == 0) return;
  const HostKernels& host = host_kernels();
  const std::size_t down = (m + piece_rows - 1) / piece_rows;
  const auto count = static_cast<std::ptrdiff_t>(down * ((n + piece_columns - 1) / piece_columns));
  [[maybe_unused]] const bool many =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > threads_from;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads)) if (many)
  for (std::ptrdiff_t p = 0; p < count; ++p) {
    const std::size_t row = static_cast<std::size_t>(p) % down * piece_rows;
    const std::size_t column = static_cast<std::size_t>(p) / down * piece_columns;
    const std::size_t rows = std::min(piece_rows, m - row);
    const std::size_t columns = std::min(piece_columns, n - column);
    thread_local std::vector<double> scratch;
    if (scratch.size() < host.scratch(rows, columns)) scratch.resize(host.scratch(rows, columns));
    host.subtract_product({rows, columns, k, host_factor(submatrix(a, row, 0)),
                           host_factor(submatrix(b, 0, column)), submatrix(c, row, column).data,
                           c.stride, scratch.data()});
  }
}

}  // namespace gdr::dense
