// Blocked factorisations with trailing updates on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gdr/linear.hpp"
#include "libgdr/dense/updates.hpp"

namespace gdr::dense {

/// LinearSolver::lu with panels of `block` columns; pivots has min(m, n) elements.
std::optional<std::size_t> factor_lu(std::size_t m, std::size_t n, const MatrixView<double>& a,
                                     std::span<std::int64_t> pivots, std::size_t block,
                                     bool overlap, Updates& updates);

/// LinearSolver::cholesky with panels of `block` columns.
std::optional<std::size_t> factor_cholesky(Triangle triangle, std::size_t n,
                                           const MatrixView<double>& a, std::size_t block,
                                           bool overlap, Updates& updates);

}  // namespace gdr::dense
