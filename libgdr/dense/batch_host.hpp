// Batches of small matrices on threads of the host, in doubles: for engines that compute in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gdr/batch.hpp"

namespace gdr::dense {

/// BatchedMatrices::multiply, for checked arguments.
void multiply_batch(std::size_t count, std::size_t m, std::size_t n, std::size_t k,
                    const MatrixBatch<const double>& a, const MatrixBatch<const double>& b,
                    const MatrixBatch<double>& c, unsigned threads);

/// BatchedMatrices::lu, for checked arguments.
std::size_t factor_batch(std::size_t count, std::size_t n, const MatrixBatch<double>& a,
                         std::span<std::int64_t> pivots, unsigned threads);

/// BatchedMatrices::solve, for checked arguments.
void solve_batch(std::size_t count, std::size_t n, std::size_t columns,
                 const MatrixBatch<const double>& lu, std::span<const std::int64_t> pivots,
                 const MatrixBatch<double>& b, unsigned threads);

}  // namespace gdr::dense
