// LinearSolver: checks the arguments and calls the factorisations.
#include "gdr/linear.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/views.hpp"
#include "libgdr/device/usage_error.hpp"

namespace gdr {
namespace {

using dense::const_view;
using dense::require_matrix;
using dense::require_result;
using dense::transpose_of;
using dense::TriangularMatrix;

template <typename Number>
void require_vector(const VectorView<Number>& x, std::size_t n, const char* name) {
  if (x.increment == 0)
    usage_error("the increment of " + std::string(name) + " is 0; it is at least 1");
  dense::require_count(n, x.increment, "the vector " + std::string(name));
  if (n > 0 && x.data == nullptr)
    usage_error("the vector " + std::string(name) + " is a null pointer");
}

/// X *= factor; 0 does not read X.
void scale(std::size_t m, std::size_t n, double factor, const MatrixView<double>& x) noexcept {
  if (factor == 1) return;
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t r = 0; r < m; ++r) {
      double& element = x.data[r + c * x.stride];
      element = factor == 0 ? 0 : factor * element;
    }
}

}  // namespace

struct LinearSolver::Impl {
  Impl(Device& device, const LinearOptions& wanted)
      : options(wanted), updates(device, wanted.precision, wanted.device_flops) {}

  /// Throws if the device cannot be used, before host threads start: in a forked child they would
  /// never return.
  /// Returns the floating-point mode of the scope: results do not depend on the caller's.
  [[nodiscard]] HostFloatMode begin() {
    updates.wait();
    return HostFloatMode();
  }

  void triangle(Side side, const TriangularMatrix& t, std::size_t others,
                const MatrixView<double>& b) {
    dense::solve_triangle(side, t, others, b, updates.subtract_function(), updates.host());
  }

  /// Columns of a panel for a matrix of this order: all if the host is the device, as nothing is
  /// computed meanwhile.
  std::size_t block(std::size_t n) const {
    const std::size_t wanted = options.block > 0 ? options.block
                               : updates.host().direct
                                   ? n
                                   : dense::panel_columns(n, updates.product().depth());
    return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(n, 1));
  }

  LinearOptions options;
  dense::Updates updates;
};

LinearSolver::LinearSolver(Device& device, const LinearOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;

std::optional<std::size_t> LinearSolver::lu(std::size_t m, std::size_t n,
                                            const MatrixView<double>& a,
                                            std::span<std::int64_t> pivots) {
  require_result(a, m, n, "A");
  const std::size_t steps = std::min(m, n);
  dense::require_pivots(pivots.size(), steps);
  const HostFloatMode mode = impl_->begin();
  return dense::factor_lu(m, n, a, pivots.first(steps), impl_->block(steps), impl_->options.overlap,
                          impl_->updates);
}

void LinearSolver::solve(std::size_t n, std::size_t columns, const MatrixView<const double>& lu,
                         std::span<const std::int64_t> pivots, const MatrixView<double>& b) {
  require_matrix(lu, n, columns > 0 ? n : 0, "LU");
  require_result(b, n, columns, "B");
  dense::require_pivots(pivots.size(), n);
  pivots = pivots.first(n);
  dense::require_valid_pivots(pivots, n, "");
  const HostFloatMode mode = impl_->begin();
  const dense::Host& host = impl_->updates.host();
  const bool transposed = lu.transpose == Transpose::Yes;
  const TriangularMatrix lower{n, !transposed, true, lu}, upper{n, transposed, false, lu};
  if (!transposed) dense::exchange_rows(columns, b, pivots, host);
  impl_->triangle(Side::Left, transposed ? upper : lower, columns, b);
  impl_->triangle(Side::Left, transposed ? lower : upper, columns, b);
  if (transposed) dense::restore_rows(columns, b, pivots, host);
}

std::optional<std::size_t> LinearSolver::cholesky(Triangle triangle, std::size_t n,
                                                  const MatrixView<double>& a) {
  require_result(a, n, n, "A");
  const HostFloatMode mode = impl_->begin();
  return dense::factor_cholesky(triangle, n, a, impl_->block(n), impl_->options.overlap,
                                impl_->updates);
}

void LinearSolver::solve_cholesky(Triangle triangle, std::size_t n, std::size_t columns,
                                  const MatrixView<const double>& factor,
                                  const MatrixView<double>& b) {
  if (factor.transpose == Transpose::Yes)
    usage_error("a Cholesky factor cannot be transposed; give the triangle in which it is stored");
  require_matrix(factor, n, columns > 0 ? n : 0, "the factor");
  require_result(b, n, columns, "B");
  const HostFloatMode mode = impl_->begin();
  const bool lower = triangle == Triangle::Lower;
  const TriangularMatrix as_stored{n, lower, false, factor};
  const TriangularMatrix transposed{n, !lower, false, transpose_of(factor)};
  impl_->triangle(Side::Left, lower ? as_stored : transposed, columns, b);
  impl_->triangle(Side::Left, lower ? transposed : as_stored, columns, b);
}

void LinearSolver::solve_triangular(Side side, Triangle triangle, Diagonal diagonal, std::size_t m,
                                    std::size_t n, double alpha, const MatrixView<const double>& a,
                                    const MatrixView<double>& b) {
  const bool left = side == Side::Left;
  const std::size_t size = left ? m : n, others = left ? n : m;
  require_matrix(a, size, alpha != 0 && others > 0 ? size : 0, "A");
  require_result(b, m, n, "B");
  const HostFloatMode mode = impl_->begin();
  scale(m, n, alpha, b);
  if (alpha == 0) return;
  const bool lower = (triangle == Triangle::Lower) == (a.transpose == Transpose::No);
  impl_->triangle(side, {size, lower, diagonal == Diagonal::Unit, a}, others, b);
}

void LinearSolver::multiply(std::size_t m, std::size_t n, double alpha,
                            const MatrixView<const double>& a, const VectorView<const double>& x,
                            double beta, const VectorView<double>& y) {
  const bool reads = alpha != 0 && m > 0 && n > 0;
  require_matrix(a, m, reads ? n : 0, "A");
  require_vector(x, reads ? n : 0, "x");
  require_vector(y, m, "y");
  // A vector with an increment is a row of a matrix.
  const MatrixView<const double> column{x.data, x.increment, Transpose::Yes};
  if (y.increment == 1)
    return impl_->updates.product().compute(m, 1, n, alpha, a, column, beta,
                                            {y.data, std::max<std::size_t>(m, 1)});
  std::vector<double> result(m);
  for (std::size_t i = 0; beta != 0 && i < m; ++i) result[i] = y.data[i * y.increment];
  impl_->updates.product().compute(m, 1, n, alpha, a, column, beta,
                                   {result.data(), std::max<std::size_t>(m, 1)});
  for (std::size_t i = 0; i < m; ++i) y.data[i * y.increment] = result[i];
}

}  // namespace gdr
