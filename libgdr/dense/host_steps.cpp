// Steps of factorisations on the host: products, row exchanges and triangular solves. Products are
// divided into blocks that depend on the shape only, so that the order of sums does not depend on
// threads or caches. With a clock a step is not executed: the clock counts its arithmetic and its
// memory traffic beyond the caches.
#include <algorithm>
#include <array>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/parallel.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/host/functions.hpp"
#include "libgdr/dense/tiles.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

/// Rows and columns of the pieces of C that threads compute (loops.hpp): a packed block of A, mc x
/// kc, and one of B take half of the second-level cache each.
constexpr std::size_t mc = 240, nc = 240;
/// Products from which threads are used, multiplications.
constexpr double threads_from = 1e6;
/// Vectors per task of a thread.
constexpr std::size_t strip = 64;

double real(std::size_t n) noexcept { return static_cast<double>(n); }

/// Calls work(task) for all tasks, in the host's threads if they are worth it.
template <typename Function>
void in_parallel(std::size_t tasks, bool worthwhile, const Host& host, const Function& work) {
  parallel_items(tasks, worthwhile ? host.threads : 1, [&](std::size_t task) {
    const HostFloatMode mode;
    work(task);
  });
}

HostFactor host_factor(const MatrixView<const double>& x) noexcept {
  const bool transposed = x.transpose == Transpose::Yes;
  return {x.data, transposed ? x.stride : 1, transposed ? 1 : x.stride};
}

template <typename Exchange>
void each_column(std::size_t n, const MatrixView<double>& a, std::size_t pivots, const Host& host,
                 const Exchange& exchange) {
  if (host.clock != nullptr) return host.clock->add_exchange(real(pivots) * real(n));
  const std::size_t tasks = (n + strip - 1) / strip;
  in_parallel(tasks, n > 256, host, [&](std::size_t task) {
    const std::size_t end = std::min(n, (task + 1) * strip);
    for (std::size_t c = task * strip; c < end; ++c) exchange(a.data + c * a.stride);
  });
}

/// A triangle for HostTriangle; whether unknown 0 is the first, else the last one.
struct Substitution {
  std::array<double, triangle_rows * triangle_rows> t;
  bool forward;
};

Substitution substitution(Side side, const TriangularMatrix& t) noexcept {
  Substitution s;
  s.forward = (side == Side::Left) == t.lower;
  const auto place = [&](std::size_t i) { return s.forward ? i : t.n - 1 - i; };
  for (std::size_t j = 0; j < t.n; ++j)
    for (std::size_t i = t.unit ? j + 1 : j; i < t.n; ++i)
      s.t[i + j * triangle_rows] = side == Side::Left ? element(t.view, place(i), place(j))
                                                      : element(t.view, place(j), place(i));
  return s;
}

void substitute(Side side, const TriangularMatrix& t, std::size_t others,
                const MatrixView<double>& b, const Host& host) {
  if (host.clock != nullptr)
    return host.clock->add_work(real(t.n) * real(t.n) * real(others),
                                2 * sizeof(double) * real(t.n) * real(others));
  const Substitution s = substitution(side, t);
  const HostTriangle triangle{t.n, t.unit, s.t.data()};
  const FactorFunctions& functions = factor_functions(host);
  const std::size_t strips = (others + strip - 1) / strip;
  in_parallel(strips, strips >= 4, host, [&](std::size_t k) {
    const std::size_t first = k * strip;
    const std::size_t count = std::min(strip, others - first);
    if (side == Side::Left)
      return functions.solve_along(triangle, b.data + first * b.stride, s.forward, b.stride, count);
    const auto stride = static_cast<std::ptrdiff_t>(b.stride);
    functions.solve_across(triangle, b.data + first + (s.forward ? 0 : (t.n - 1) * b.stride),
                           s.forward ? stride : -stride, count);
  });
}

}  // namespace

void subtract_on_host(std::size_t m, std::size_t n, std::size_t k,
                      const MatrixView<const double>& a, const MatrixView<const double>& b,
                      const MatrixView<double>& c, const Host& host, DirectPart part) {
  if (m == 0 || n == 0 || k == 0) return;
  const double products = real(m) * real(n) * real(k);
  if (host.clock != nullptr)
    return host.clock->add_work(
        2 * products,
        sizeof(double) * (2 * real(m) * real(n) + real(m) * real(k) + real(k) * real(n)));
  if (host.direct)
    return multiply_directly<double>(
        {m, n, k, -1, direct_factor(a), direct_factor(b), 1, c.data, 1, c.stride, part},
        host.threads, host.isa);
  const HostFunctions& functions = host_functions();
  const std::size_t blocks = (m + mc - 1) / mc;
  // Loops jc and ic in one, outside of pc: threads share pieces of C, and wait for none of each
  // other's packing.
  in_parallel(blocks * ((n + nc - 1) / nc), products > threads_from, host, [&](std::size_t p) {
    const std::size_t row = p % blocks * mc, column = p / blocks * nc;
    const std::size_t rows = std::min(mc, m - row), columns = std::min(nc, n - column);
    thread_local std::vector<double> scratch;
    if (scratch.size() < functions.scratch(rows, columns))
      scratch.resize(functions.scratch(rows, columns));
    functions.subtract_product({rows, columns, k, host_factor(submatrix(a, row, 0)),
                                host_factor(submatrix(b, 0, column)),
                                submatrix(c, row, column).data, c.stride, scratch.data()});
  });
}

Subtract subtract_on(const Host& host) {
  return [host](std::size_t m, std::size_t n, std::size_t k, const auto& a, const auto& b,
                const auto& c, DirectPart part) { subtract_on_host(m, n, k, a, b, c, host, part); };
}

void exchange_rows(std::size_t n, const MatrixView<double>& a, std::span<const std::int64_t> pivots,
                   const Host& host) {
  each_column(n, a, pivots.size(), host, [&](double* column) {
    for (std::size_t i = 0; i < pivots.size(); ++i)
      std::swap(column[i], column[static_cast<std::size_t>(pivots[i])]);
  });
}

void restore_rows(std::size_t n, const MatrixView<double>& a, std::span<const std::int64_t> pivots,
                  const Host& host) {
  each_column(n, a, pivots.size(), host, [&](double* column) {
    for (std::size_t i = pivots.size(); i-- > 0;)
      std::swap(column[i], column[static_cast<std::size_t>(pivots[i])]);
  });
}

void solve_triangle(Side side, const TriangularMatrix& t, std::size_t others,
                    const MatrixView<double>& b, const Subtract& subtract, const Host& host) {
  if (t.n == 0 || others == 0) return;
  if (t.n <= triangle_rows) return substitute(side, t, others, b, host);
  const std::size_t half = aligned_half(t.n, triangle_rows), rest = t.n - half;
  const bool left = side == Side::Left;
  const TriangularMatrix upper_left{half, t.lower, t.unit, t.view};
  const TriangularMatrix lower_right{rest, t.lower, t.unit, submatrix(t.view, half, half)};
  const MatrixView<const double> corner =
      t.lower ? submatrix(t.view, half, 0) : submatrix(t.view, 0, half);
  const MatrixView<double> b_half = b;
  const MatrixView<double> b_rest = left ? submatrix(b, half, 0) : submatrix(b, 0, half);

  // The half that does not depend on the other one is solved first.
  const bool forward = left == t.lower;
  const TriangularMatrix& first = forward ? upper_left : lower_right;
  const TriangularMatrix& second = forward ? lower_right : upper_left;
  const MatrixView<double>& known = forward ? b_half : b_rest;
  const MatrixView<double>& open = forward ? b_rest : b_half;
  solve_triangle(side, first, others, known, subtract, host);
  if (left) {
    subtract(second.n, others, first.n, corner, const_view(known), open, DirectPart::All);
  } else {
    subtract(others, second.n, first.n, const_view(known), corner, open, DirectPart::All);
  }
  solve_triangle(side, second, others, open, subtract, host);
}

}  // namespace gdr::dense
