// The time of an LU: the steps of lu.cpp, panel.cpp and triangular.cpp once more, each with what it
// costs instead of what it does. A step of the host takes the larger of its operations and its
// memory traffic.
#include <algorithm>

#include "libgdr/dense/host_model.hpp"
#include "libgdr/dense/panel.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/dense/triangular.hpp"
#include "libgdr/dense/updates.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

constexpr double word = 8;

double real(std::size_t n) noexcept { return static_cast<double>(n); }

double on_host(double flops, double bytes) noexcept {
  return std::max(flops / host::product_rate.value, bytes / host::memory.value);
}

/// C -= A B: C is read and written, the factors are read once.
double host_product(std::size_t m, std::size_t n, std::size_t k) noexcept {
  return on_host(2 * real(m) * real(n) * real(k),
                 word * (2 * real(m) * real(n) + real(m) * real(k) + real(k) * real(n)));
}

/// Triangle of n rows with `others` right-hand sides, all on the host.
double host_triangle(std::size_t n, std::size_t others) noexcept {
  constexpr std::size_t small = smallest_triangle;
  if (n <= small)
    return on_host(real(n) * real(n) * real(others), word * 2 * real(n) * real(others));
  const std::size_t half = half_of(n, small), rest = n - half;
  return host_triangle(half, others) + host_product(rest, others, half) +
         host_triangle(rest, others);
}

/// The element that moves up is in a line of its own; those that move down are side by side.
double exchange(std::size_t pivots, std::size_t columns) noexcept {
  return on_host(0, 2 * host::cache_line.value * real(pivots) * real(columns));
}

double panel(std::size_t m, std::size_t n) noexcept {
  if (n <= narrowest_panel) {
    // Each elimination passes over the columns right of it: they are read and written.
    const double passes = 0.5 * real(n) * real(n + 1);
    return on_host(2 * passes * real(m), 2 * word * passes * real(m));
  }
  const std::size_t half = half_of(n, narrowest_panel), rest = n - half;
  return panel(m, half) + exchange(half, rest) + host_triangle(half, rest) +
         host_product(m - half, rest, half) + panel(m - half, rest) + exchange(rest, half);
}

class Lu {
 public:
  explicit Lu(const Geometry& geometry)
      : geometry_(geometry), mapping_(network_mapping(geometry)) {}

  LuTime predict(std::size_t n, std::size_t block, bool overlap) const {
    LuTime time;
    const auto alone = [&time](double& part, double seconds) {
      part += seconds;
      time.total += seconds;
    };
    if (n > 0) alone(time.panels, panel(n, std::min(block, n)));
    for (std::size_t at = 0; at < n; at += block) {
      const std::size_t width = std::min(block, n - at), end = at + width, below = n - end;
      const std::size_t next = std::min(block, below), far = below - next;
      alone(time.exchanges, exchange(width, n - width));
      alone(time.solves, triangle(width, below));
      alone(time.updates, subtract(below, next, width));
      if (on_device(below, next, width)) time.additions += additions(below, next);
      const double ahead = next > 0 ? panel(below, next) : 0;
      const double board = on_device(below, far, width) ? board_product(below, far, width) : 0;
      const double host = board > 0 ? additions(below, far) : host_product(below, far, width);
      time.panels += ahead;
      time.updates += board > 0 ? board : host;
      if (board > 0) time.additions += host;
      time.total += overlap ? std::max(board, host + ahead) : std::max(board, host) + ahead;
    }
    return time;
  }

 private:
  bool on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept {
    return device_pays(m, n, k, mapping_.depth * geometry_.chips_per_board,
                       LinearOptions{}.device_flops);
  }
  double board_product(std::size_t m, std::size_t n, std::size_t k) const {
    return product_seconds(geometry_, mapping_, m, n, k);
  }
  /// Results come in, and are added to C; packing the factors is little beside that.
  static double additions(std::size_t m, std::size_t n) noexcept {
    return on_host(0, 4 * word * real(m) * real(n));
  }
  double subtract(std::size_t m, std::size_t n, std::size_t k) const {
    return on_device(m, n, k) ? std::max(board_product(m, n, k), additions(m, n))
                              : host_product(m, n, k);
  }
  double triangle(std::size_t n, std::size_t others) const {
    constexpr std::size_t small = smallest_triangle;
    if (n <= small) return host_triangle(n, others);
    const std::size_t half = half_of(n, small), rest = n - half;
    return triangle(half, others) + subtract(rest, others, half) + triangle(rest, others);
  }

  Geometry geometry_;
  BoardMapping mapping_;
};

}  // namespace

double LuTime::gflops(std::size_t n) const noexcept {
  return total > 0 ? 1e-9 * 2 / 3 * real(n) * real(n) * real(n) / total : 0;
}

LuTime predict_lu(const Geometry& geometry, std::size_t n, std::size_t block, bool overlap) {
  return Lu(geometry).predict(n, std::max<std::size_t>(block, 1), overlap);
}

}  // namespace gdr::dense
