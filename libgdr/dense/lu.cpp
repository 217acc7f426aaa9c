// Right-looking blocked LU with look-ahead: the matrix right of a panel is updated in two parts;
// while the device computes the larger second one, the host factorises the first, which is the next
// panel. Nearly all operations are updates with the width of a panel as inner dimension.
#include <algorithm>

#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/tiles.hpp"
#include "libgdr/dense/triangle_product.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

std::optional<std::size_t> eliminate(std::size_t m, const MatrixView<double>& a,
                                     std::span<std::int64_t> pivots, const Host& host) noexcept {
  const std::size_t n = pivots.size();
  if (host.clock != nullptr) {
    // Each elimination reads and writes the columns to its right.
    const double eliminations = 0.5 * static_cast<double>(n * (n + 1) * m);
    host.clock->add_work(2 * eliminations, 2 * sizeof(double) * eliminations);
    return {};
  }
  const std::size_t zero =
      factor_functions(host).factor_columns(m, n, a.data, a.stride, pivots.data());
  return zero < n ? std::optional(zero) : std::nullopt;
}

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

bool Updates::on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept {
  if (host_.clock != nullptr) return host_.clock->on_device(m, n, k);
  return device_pays(m, n, k, product_->depth(), device_flops_);
}

void Updates::subtract(std::size_t m, std::size_t n, std::size_t k,
                       const MatrixView<const double>& a, const MatrixView<const double>& b,
                       const MatrixView<double>& c, DirectPart part) {
  if (!on_device(m, n, k)) {
    subtract_on_host(m, n, k, a, b, c, host_, part);
  } else if (part != DirectPart::All) {
    TriangleProduct::subtract(*product_, n, k, a, b, c, part);
  } else if (host_.clock != nullptr) {
    host_.clock->start_product(m, n, k, 1);
    host_.clock->wait();
  } else {
    product_->compute(m, n, k, -1, a, b, 1, c);
  }
}

void Updates::start(std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
                    const MatrixView<const double>& b, const MatrixView<double>& c) {
  if (!on_device(m, n, k)) {
    subtract_on_host(m, n, k, a, b, c, host_);
  } else if (host_.clock != nullptr) {
    host_.clock->start_product(m, n, k, 1);
  } else {
    product_->start(m, n, k, -1, a, b, 1, c);
  }
}

void Updates::wait() {
  if (host_.clock != nullptr)
    host_.clock->wait();
  else
    product_->wait();
}

Subtract Updates::subtract_function() {
  return [this](std::size_t m, std::size_t n, std::size_t k, const auto& a, const auto& b,
                const auto& c, DirectPart part) { subtract(m, n, k, a, b, c, part); };
}

std::optional<std::size_t> factor_panel(std::size_t m, const MatrixView<double>& a,
                                        std::span<std::int64_t> pivots, const Subtract& subtract,
                                        const Host& host) {
  const std::size_t n = pivots.size();
  if (n <= narrowest_panel) return eliminate(m, a, pivots, host);
  const std::size_t half = aligned_half(n, narrowest_panel), rest = n - half;
  const auto upper = pivots.first(half), lower = pivots.subspan(half);
  const MatrixView<double> right = submatrix(a, 0, half), corner = submatrix(a, half, half);
  std::optional<std::size_t> zero = factor_panel(m, a, upper, subtract, host);
  exchange_rows(rest, right, upper, host);
  solve_triangle(Side::Left, {half, true, true, const_view(a)}, rest, right, subtract, host);
  subtract(m - half, rest, half, const_view(submatrix(a, half, 0)), const_view(right), corner,
           DirectPart::All);
  const std::optional<std::size_t> zero_below =
      factor_panel(m - half, corner, lower, subtract, host);
  exchange_rows(half, submatrix(a, half, 0), lower, host);
  for (std::int64_t& pivot : lower) pivot += static_cast<std::int64_t>(half);
  if (!zero && zero_below) zero = half + *zero_below;
  return zero;
}

std::optional<std::size_t> factor_lu(std::size_t m, std::size_t n, const MatrixView<double>& a,
                                     std::span<std::int64_t> pivots, std::size_t block,
                                     bool overlap, Updates& updates) {
  const std::size_t steps = pivots.size();
  const Host& host = updates.host();
  const Subtract subtract = updates.subtract_function(), in_panels = updates.subtract_in_panels();
  std::optional<std::size_t> zero;
  const Background background(updates);
  const auto factor = [&](std::size_t at, std::size_t width) {
    host.begin(&LuTime::panels);
    const auto found =
        factor_panel(m - at, submatrix(a, at, at), pivots.subspan(at, width), in_panels, host);
    if (!zero && found) zero = at + *found;
  };

  if (steps > 0) factor(0, std::min(block, steps));
  for (std::size_t at = 0; at < steps; at += block) {
    const std::size_t width = std::min(block, steps - at), end = at + width;
    const auto exchanges = pivots.subspan(at, width);
    host.begin(&LuTime::exchanges);
    exchange_rows(at, submatrix(a, at, 0), exchanges, host);
    exchange_rows(n - end, submatrix(a, at, end), exchanges, host);
    for (std::int64_t& pivot : exchanges) pivot += static_cast<std::int64_t>(at);

    const MatrixView<const double> below = const_view(submatrix(a, end, at));
    const MatrixView<double> right = submatrix(a, at, end);
    host.begin(&LuTime::solves);
    solve_triangle(Side::Left, {width, true, true, const_view(submatrix(a, at, at))}, n - end,
                   right, subtract, host);
    const std::size_t next = std::min(block, steps - end), far = end + next;
    host.begin(&LuTime::updates);
    updates.subtract(m - end, next, width, below, const_view(right), submatrix(a, end, end));
    updates.start(m - end, n - far, width, below, const_view(submatrix(a, at, far)),
                  submatrix(a, end, far));
    if (!overlap || host.direct) updates.wait();
    if (next > 0) factor(end, next);
    updates.wait();
  }
  return zero;
}

}  // namespace gdr::dense
