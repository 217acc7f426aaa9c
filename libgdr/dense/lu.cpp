// Right-looking blocked LU with look-ahead: the matrix right of a panel is updated in two parts;
// while the device computes the larger second one, the host factorises the first, which is the next
// panel. Nearly all operations are updates with the width of a panel as inner dimension.
#include <algorithm>

#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/panel.hpp"
#include "libgdr/dense/triangular.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

/// Waits for background updates before an exception propagates: they use the caller's arrays.
class Background {
 public:
  explicit Background(Updates& updates) : updates_(updates) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    try {
      updates_.wait();
    } catch (...) {  // the first error is already propagating
    }
  }

 private:
  Updates& updates_;
};

}  // namespace

std::optional<std::size_t> factor_lu(std::size_t m, std::size_t n, const MatrixView<double>& a,
                                     std::span<std::int64_t> pivots, std::size_t block,
                                     bool overlap, Updates& updates) {
  const std::size_t steps = pivots.size();
  const unsigned threads = updates.threads();
  const auto subtract = [&](std::size_t rows, std::size_t columns, std::size_t inner, const auto& x,
                            const auto& y,
                            const auto& z) { updates.subtract(rows, columns, inner, x, y, z); };
  std::optional<std::size_t> zero;
  const Background background(updates);
  const auto factor = [&](std::size_t at, std::size_t width) {
    const auto found =
        factor_panel(m - at, submatrix(a, at, at), pivots.subspan(at, width), threads);
    if (!zero && found) zero = at + *found;
  };

  if (steps > 0) factor(0, std::min(block, steps));
  for (std::size_t at = 0; at < steps; at += block) {
    const std::size_t width = std::min(block, steps - at), end = at + width;
    const auto exchanges = pivots.subspan(at, width);
    exchange_rows(at, submatrix(a, at, 0), exchanges, threads);
    exchange_rows(n - end, submatrix(a, at, end), exchanges, threads);
    for (std::int64_t& pivot : exchanges) pivot += static_cast<std::int64_t>(at);

    const MatrixView<const double> below = const_view(submatrix(a, end, at));
    const MatrixView<double> right = submatrix(a, at, end);
    solve_triangle(Side::Left, {width, true, true, const_view(submatrix(a, at, at))}, n - end,
                   right, subtract, threads);
    const std::size_t next = std::min(block, steps - end), far = end + next;
    updates.subtract(m - end, next, width, below, const_view(right), submatrix(a, end, end));
    updates.start(m - end, n - far, width, below, const_view(submatrix(a, at, far)),
                  submatrix(a, end, far));
    if (!overlap) updates.wait();
    if (next > 0) factor(end, next);
    updates.wait();
  }
  return zero;
}

}  // namespace gdr::dense
