// Products over a grid: for each block of the inner dimension, the ranks of a grid row gather
// columns of A and those of a grid column rows of B, and each rank multiplies them on its boards. A
// block is one pass of a board for every grid, so the bits do not depend on the grid.
#include <array>
#include <cstdio>
#include <string>

#include "gdr/error.hpp"
#include "libgdr/dense/views.hpp"
#include "libgdr/distributed/grid.hpp"

namespace gdr {
namespace {

/// The block of one factor for a step: vectors of `length` elements, gathered from the ranks of a
/// grid row or column and arranged in the order of the whole matrix.
class GatheredBlock {
 public:
  /// Allocates memory for up to n vectors, so that later steps cannot run out of memory.
  void reserve(std::size_t n, std::size_t length) {
    buffer_.reserve(n * length);
    ordered_.reserve(n * length);
  }
  /// Starts to gather vectors first .. first + n - 1. `copy(local, to)` copies one of this rank's.
  template <typename Copy>
  void start(RankGroup& line, const CyclicDistribution& distribution, std::size_t first,
             std::size_t n, std::size_t length, const Copy& copy) {
    first_ = first;
    n_ = n;
    length_ = length;
    buffer_.resize(n * length);
    offsets_ = distribution.offsets(first, first + n, length);
    double* to = buffer_.data() + offsets_[distribution.part];
    for (std::size_t l = distribution.count(first); l < distribution.count(first + n);
         ++l, to += length)
      copy(l, to);
    pending_ = line.start_gather(message_words(buffer_.data()), offsets_);
  }
  /// Waits for the vectors and returns them in the order of the whole matrix.
  const double* wait(const CyclicDistribution& distribution) {
    pending_->wait();
    pending_.reset();
    ordered_.resize(buffer_.size());
    const double* from = buffer_.data();
    distribution.in_buffer_order(first_, first_ + n_, [&](std::size_t index) {
      std::copy_n(from, length_, ordered_.data() + (index - first_) * length_);
      from += length_;
    });
    return ordered_.data();
  }

 private:
  std::size_t first_ = 0, n_ = 0, length_ = 0;
  std::vector<double> buffer_, ordered_;
  std::vector<std::size_t> offsets_;
  std::unique_ptr<RankPending> pending_;  // destroyed before the buffers: it waits
};

}  // namespace

void DistributedMatrices::multiply(std::size_t m, std::size_t n, std::size_t k, double alpha,
                                   Numbers<const double> matrix_a, Numbers<const double> matrix_b,
                                   double beta, Numbers<double> matrix_c) {
  const double *const a = matrix_a.data(), *const b = matrix_b.data();
  double* const c = matrix_c.data();
  Impl& x = *impl_;
  const std::size_t rows = local_rows(m), columns = local_columns(n);
  const std::size_t a_stride = std::max<std::size_t>(1, rows);
  const std::size_t b_stride = std::max<std::size_t>(1, x.rows.count(k));
  const std::size_t step = x.product.depth();
  GatheredBlock gathered_a[2], gathered_b[2];
  std::array<char, 160> call{};
  std::snprintf(
      call.data(), call.size(),
      "DistributedMatrices::multiply of m = %zu, n = %zu, k = %zu, alpha = %.17g, beta = %.17g", m,
      n, k, alpha, beta);
  collectively(&x.ranks, call.data(), [&] {
    dense::require_count(rows, x.columns.count(k), "matrix A");
    dense::require_count(x.rows.count(k), columns, "matrix B");
    dense::require_count(rows, columns, "matrix C");
    if (alpha != 0) {
      matrix_a.need(rows * x.columns.count(k), "matrix A");
      matrix_b.need(x.rows.count(k) * columns, "matrix B");
    }
    matrix_c.need(rows * columns, "matrix C");
    const auto needs = [&](const double* p, std::size_t count, const char* what) {
      if (p == nullptr && count > 0)
        throw Error(ErrorCategory::Usage, std::string("matrix ") + what + " is a null pointer");
    };
    needs(a, alpha == 0 ? 0 : rows * x.columns.count(k), "A");
    needs(b, alpha == 0 ? 0 : x.rows.count(k) * columns, "B");
    needs(c, rows * columns, "C");
    if (alpha == 0 || k == 0) return;
    for (GatheredBlock& s : gathered_a) s.reserve(std::min(step, k), rows);
    for (GatheredBlock& s : gathered_b) s.reserve(std::min(step, k), columns);
  });
  const MatrixView<double> to{c, a_stride};
  if (alpha == 0 || k == 0) {
    collectively(&x.ranks, [&] {
      x.product.compute(rows, columns, 0, 0, {nullptr, a_stride}, {}, beta, to);
    });
    return;
  }
  const auto start = [&](std::size_t first) {
    const std::size_t width = std::min(step, k - first), buffer = first / step % 2;
    gathered_a[buffer].start(
        *x.row, x.columns, first, width, rows,
        [&](std::size_t l, double* out) { std::copy_n(a + l * a_stride, rows, out); });
    gathered_b[buffer].start(*x.column, x.rows, first, width, columns,
                             [&](std::size_t l, double* out) {
                               for (std::size_t q = 0; q < columns; ++q)
                                 out[q] = b[l + q * b_stride];
                             });
  };
  start(0);
  for (std::size_t first = 0; first < k; first += step) {
    const std::size_t width = std::min(step, k - first), buffer = first / step % 2;
    const double* const left = gathered_a[buffer].wait(x.columns);
    const double* const right = gathered_b[buffer].wait(x.rows);
    if (first + step < k) start(first + step);
    collectively(&x.ranks, [&] {
      x.product.compute(rows, columns, width, alpha, {left, a_stride},
                        {right, std::max<std::size_t>(1, columns), Transpose::Yes},
                        first == 0 ? beta : 1, to);
    });
  }
}

}  // namespace gdr
