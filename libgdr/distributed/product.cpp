// Products over a grid: for a stretch of the inner dimension after the other, all ranks of a row
// get its columns of A, all of a column its rows of B, and each multiplies them on its boards. The
// stretches are those of one board's pass, whatever the grid, and in their order: so are the bits.
#include <array>
#include <cstdio>
#include <string>

#include "gdr/error.hpp"
#include "libgdr/dense/views.hpp"
#include "libgdr/distributed/grid.hpp"

namespace gdr {
namespace {

std::uint64_t* words(double* numbers) { return reinterpret_cast<std::uint64_t*>(numbers); }

/// The part of one factor that a step needs: vectors of `length` elements, of which every rank of a
/// line has some, put together and laid out as the whole matrix has them.
class Stretch {
 public:
  /// Memory for up to so many vectors: later nothing can fail for lack of it.
  void reserve(std::size_t n, std::size_t length) {
    buffer_.reserve(n * length);
    ordered_.reserve(n * length);
  }
  /// Begin to gather vectors first .. first + n - 1. `copy(local, to)` gives one of this rank's.
  template <typename Copy>
  void start(RankGroup& line, const Deal& deal, std::size_t first, std::size_t n,
             std::size_t length, const Copy& copy) {
    first_ = first;
    n_ = n;
    length_ = length;
    buffer_.resize(n * length);
    offsets_.assign(1, 0);
    for (std::size_t p = 0; p < deal.parts; ++p)
      offsets_.push_back(offsets_.back() +
                         (deal.count_of(first + n, p) - deal.count_of(first, p)) * length);
    double* to = buffer_.data() + offsets_[deal.part];
    for (std::size_t l = deal.count(first); l < deal.count(first + n); ++l, to += length)
      copy(l, to);
    pending_ = line.start_gather(words(buffer_.data()), offsets_);
  }
  /// The vectors in the order of the whole matrix.
  const double* take(const Deal& deal) {
    pending_->wait();
    pending_.reset();
    ordered_.resize(buffer_.size());
    for (std::size_t p = 0; p < deal.parts; ++p) {
      const double* from = buffer_.data() + offsets_[p];
      for (std::size_t l = deal.count_of(first_, p); l < deal.count_of(first_ + n_, p); ++l) {
        std::copy_n(from, length_, ordered_.data() + (deal.global_of(l, p) - first_) * length_);
        from += length_;
      }
    }
    return ordered_.data();
  }

 private:
  std::size_t first_ = 0, n_ = 0, length_ = 0;
  std::vector<double> buffer_, ordered_;
  std::vector<std::size_t> offsets_;
  std::unique_ptr<RankPending> pending_;  // before the buffers' end: it waits
};

}  // namespace

void DistributedMatrices::multiply(std::size_t m, std::size_t n, std::size_t k, double alpha,
                                   const double* a, const double* b, double beta, double* c) {
  Impl& x = *impl_;
  const std::size_t rows = local_rows(m), columns = local_columns(n);
  const std::size_t a_stride = std::max<std::size_t>(1, rows);
  const std::size_t b_stride = std::max<std::size_t>(1, x.rows.count(k));
  const std::size_t step = x.product.depth();
  Stretch of_a[2], of_b[2];
  std::array<char, 160> call{};
  std::snprintf(
      call.data(), call.size(),
      "DistributedMatrices::multiply of m = %zu, n = %zu, k = %zu, alpha = %.17g, beta = %.17g", m,
      n, k, alpha, beta);
  collectively(&x.ranks, call.data(), [&] {
    dense::require_count(rows, x.columns.count(k), "matrix A");
    dense::require_count(x.rows.count(k), columns, "matrix B");
    dense::require_count(rows, columns, "matrix C");
    const auto needs = [&](const double* p, std::size_t count, const char* what) {
      if (p == nullptr && count > 0)
        throw Error(ErrorCategory::Usage, std::string("matrix ") + what + " is a null pointer");
    };
    needs(a, alpha == 0 ? 0 : rows * x.columns.count(k), "A");
    needs(b, alpha == 0 ? 0 : x.rows.count(k) * columns, "B");
    needs(c, rows * columns, "C");
    if (alpha == 0 || k == 0) return;
    for (Stretch& s : of_a) s.reserve(std::min(step, k), rows);
    for (Stretch& s : of_b) s.reserve(std::min(step, k), columns);
  });
  const MatrixView<double> to{c, a_stride};
  if (alpha == 0 || k == 0) {
    collectively(&x.ranks, [&] {
      x.product.compute(rows, columns, 0, 0, {nullptr, a_stride}, {}, beta, to);
    });
    return;
  }
  const auto start = [&](std::size_t first) {
    const std::size_t width = std::min(step, k - first), turn = first / step % 2;
    of_a[turn].start(*x.row, x.columns, first, width, rows,
                     [&](std::size_t l, double* out) { std::copy_n(a + l * a_stride, rows, out); });
    of_b[turn].start(*x.column, x.rows, first, width, columns, [&](std::size_t l, double* out) {
      for (std::size_t q = 0; q < columns; ++q) out[q] = b[l + q * b_stride];
    });
  };
  start(0);
  for (std::size_t first = 0; first < k; first += step) {
    const std::size_t width = std::min(step, k - first), turn = first / step % 2;
    const double* const left = of_a[turn].take(x.columns);
    const double* const right = of_b[turn].take(x.rows);
    if (first + step < k) start(first + step);
    collectively(&x.ranks, [&] {
      x.product.compute(rows, columns, width, alpha, {left, a_stride},
                        {right, std::max<std::size_t>(1, columns), Transpose::Yes},
                        first == 0 ? beta : 1, to);
    });
  }
}

}  // namespace gdr
