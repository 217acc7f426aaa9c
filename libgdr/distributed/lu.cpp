// Blocked LU over a grid. The ranks of the panel's grid column gather the panel, and each
// factorises it completely; the others receive it by broadcast. Exchanged rows, including those of
// U, are gathered in every grid column; the remaining work is products on each rank's boards, which
// overlap with the next panel. So every element is computed by the same operations in the same
// order for every grid.
#include <cmath>
#include <future>
#include <string>

#include "emulator/host/run_beside.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/views.hpp"
#include "libgdr/distributed/grid.hpp"

namespace gdr {
namespace {

class Factorisation {
 public:
  Factorisation(Grid& grid, std::size_t n, std::size_t columns, double* a,
                std::span<std::int64_t> pivots)
      : x_(grid),
        n_(n),
        rows_(grid.rows.count(n)),
        columns_(grid.columns.count(columns)),
        stride_(std::max<std::size_t>(1, rows_)),
        a_(a),
        pivots_(pivots) {}

  std::optional<std::size_t> run() {
    const Stopwatch timer;
    const std::size_t block = x_.options.block;
    for (std::size_t at = 0; at < n_; at += block) {
      const std::size_t width = std::min(block, n_ - at);
      collectively(&x_.ranks, [&] { reserve_buffers(at, width); });
      if (at == 0) broadcast_panel(at, width);
      exchange(at, width);
      collectively(&x_.ranks, [&] { prepare(at, width); });
      const std::size_t next = at + width;
      if (next < n_)
        update_with_look_ahead(next, std::min(block, n_ - next));
      else
        collectively(&x_.ranks, [&] { update({0, columns_right()}); });
    }
    x_.times.seconds += timer.seconds();
    return zero_;
  }

 private:
  /// The update, and the panel of the next step: its columns are updated first, so that it is
  /// factorised and broadcast while the boards update the others.
  void update_with_look_ahead(std::size_t next, std::size_t width) {
    const bool early = x_.options.look_ahead;
    const std::size_t first = early && has_panel(next) ? width : 0;
    const IndexRange rest{first, columns_right() - first};
    const Stopwatch timer;
    double updated = 0;
    collectively(&x_.ranks, [&] { update(early ? IndexRange{0, first} : rest); });
    // The future waits for the boards if the transfers below throw.
    std::future<void> others;
    if (early)
      collectively(&x_.ranks, [&] {
        others = run_beside([&] {
          update(rest);
          updated = timer.seconds();
        });
      });
    const double begin = timer.seconds();
    broadcast_panel(next, width);
    const double end = timer.seconds();
    collectively(&x_.ranks, [&] {
      if (early) others.get();
    });
    x_.times.panel += end - begin;
    x_.times.hidden += std::max(0.0, std::min(end, updated) - begin);
  }
  double* element(std::size_t row, std::size_t column) { return a_ + row + column * stride_; }
  std::size_t rows_below(std::size_t global) const { return x_.rows.count(global); }
  bool has_panel(std::size_t at) const { return x_.columns.owner(at) == x_.columns.part; }

  /// Allocates the buffers of the panel (later ones are smaller) and of the row exchange.
  void reserve_buffers(std::size_t at, std::size_t width) {
    if (at == 0) panel_.reserve(n_ * width + width + 1);
    gathered_.resize(std::max((n_ - at) * width, 2 * width * columns_));
  }

  /// Factorises the panel and broadcasts it with its pivots to all ranks.
  void broadcast_panel(std::size_t at, std::size_t width) {
    const std::size_t m = n_ - at;
    panel_.resize(m * width + width + 1);
    if (has_panel(at)) {
      gather_panel(at, width);
      const auto own = pivots_.subspan(at, width);
      const auto zero = dense::factor_panel(m, {panel_.data(), m}, own, {});
      double* tail = panel_.data() + m * width;
      for (const std::int64_t pivot : own) *tail++ = static_cast<double>(pivot);
      *tail = zero ? static_cast<double>(at + *zero) : -1;
    }
    x_.row->broadcast(panel_.data(), (m * width + width + 1) * sizeof(double),
                      static_cast<unsigned>(x_.columns.owner(at)));
    const double* tail = panel_.data() + m * width;
    for (std::size_t i = 0; i < width; ++i)
      pivots_[at + i] = static_cast<std::int64_t>(at) + static_cast<std::int64_t>(*tail++);
    if (!zero_ && *tail >= 0) zero_ = static_cast<std::size_t>(*tail);
    if (!has_panel(at)) return;
    const std::size_t first = rows_below(at), c = x_.columns.local(at);
    for (std::size_t j = 0; j < width; ++j)
      for (std::size_t l = first; l < rows_; ++l)
        *element(l, c + j) = panel_[x_.rows.global(l) - at + j * m];
  }

  void gather_panel(std::size_t at, std::size_t width) {
    const std::size_t m = n_ - at, c = x_.columns.local(at);
    const std::vector<std::size_t> offsets = x_.rows.offsets(at, n_, width);
    double* to = gathered_.data() + offsets[x_.rows.part];
    for (std::size_t l = rows_below(at); l < rows_; ++l)
      for (std::size_t j = 0; j < width; ++j) *to++ = *element(l, c + j);
    x_.column->start_gather(message_words(gathered_.data()), offsets)->wait();
    const double* from = gathered_.data();
    x_.rows.in_buffer_order(at, n_, [&](std::size_t row) {
      for (std::size_t j = 0; j < width; ++j) panel_[row - at + j * m] = *from++;
    });
  }

  /// Exchanges rows in all columns but the panel's; `top_` gets rows at .. at + width - 1 of this
  /// rank's columns.
  void exchange(std::size_t at, std::size_t width) {
    // The origin of the row at each changed position.
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < width; ++i) places.push_back(at + i);
    for (std::size_t i = 0; i < width; ++i)
      places.push_back(static_cast<std::size_t>(pivots_[at + i]));
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto number = [&](std::size_t row) {
      return static_cast<std::size_t>(std::ranges::lower_bound(places, row) - places.begin());
    };
    std::vector<std::size_t> from(places);
    for (std::size_t i = 0; i < width; ++i)
      std::swap(from[number(at + i)], from[number(static_cast<std::size_t>(pivots_[at + i]))]);

    // Gather them on all ranks of this grid column, ordered by owner.
    std::vector<std::size_t> offsets = {0}, slot(places.size());
    for (std::size_t p = 0; p < x_.rows.parts; ++p) {
      std::size_t end = offsets.back();
      for (std::size_t k = 0; k < places.size(); ++k) {
        if (x_.rows.owner(places[k]) != p) continue;
        slot[k] = end;
        if (p == x_.rows.part)
          for (std::size_t c = 0; c < columns_; ++c)
            gathered_[end + c] = *element(x_.rows.local(places[k]), c);
        end += columns_;
      }
      offsets.push_back(end);
    }
    x_.column->start_gather(message_words(gathered_.data()), offsets)->wait();
    top_.resize(width * columns_);
    for (std::size_t k = 0; k < places.size(); ++k) {
      const double* const row = gathered_.data() + slot[number(from[k])];
      if (places[k] < at + width)
        for (std::size_t c = 0; c < columns_; ++c) top_[places[k] - at + c * width] = row[c];
      if (x_.rows.owner(places[k]) != x_.rows.part) continue;
      for (std::size_t c = 0; c < columns_; ++c)
        if (!in_panel(c, at, width)) *element(x_.rows.local(places[k]), c) = row[c];
    }
  }

  bool in_panel(std::size_t local, std::size_t at, std::size_t width) const {
    const std::size_t column = x_.columns.global(local);
    return column >= at && column < at + width;
  }

  /// Copies the parts of the panel for the update, as the next panel overwrites it: the triangle,
  /// and this rank's rows below it.
  void prepare(std::size_t at, std::size_t width) {
    const std::size_t m = n_ - at;
    at_ = at;
    width_ = width;
    below_ = rows_below(at + width);
    const std::size_t rows = rows_ - below_;
    lower_.resize(width * width);
    left_.resize(rows * width);
    for (std::size_t j = 0; j < width; ++j) {
      std::copy_n(panel_.data() + j * m, width, lower_.data() + j * width);
      for (std::size_t l = below_; l < rows_; ++l)
        left_[l - below_ + j * rows] = panel_[x_.rows.global(l) - at + j * m];
    }
  }
  std::size_t first_right() const { return x_.columns.count(at_ + width_); }
  std::size_t columns_right() const { return columns_ - first_right(); }

  /// Updates some columns right of the panel: their rows of U, and the product below.
  void update(IndexRange part) {
    if (part.count == 0) return;
    const Stopwatch timer;
    const std::size_t width = width_, first = first_right() + part.first, rows = rows_ - below_;
    double* const u = top_.data() + first * width;
    for (std::size_t c = 0; c < part.count; ++c) {
      double* const column = u + c * width;
      for (std::size_t i = 0; i < width; ++i)
        for (std::size_t r = i + 1; r < width; ++r) column[r] -= column[i] * lower_[r + i * width];
      if (x_.rows.owner(at_) != x_.rows.part) continue;
      for (std::size_t i = 0; i < width; ++i)
        *element(x_.rows.local(at_) + i, first + c) = column[i];
    }
    if (rows > 0)
      x_.product.compute(rows, part.count, width, -1, {left_.data(), rows}, {u, width}, 1,
                         {element(below_, first), stride_});
    x_.times.update += timer.seconds();
  }

  Grid& x_;
  const std::size_t n_, rows_, columns_, stride_;
  double* const a_;
  std::span<std::int64_t> pivots_;
  std::optional<std::size_t> zero_;
  std::size_t at_ = 0, width_ = 0,
              below_ = 0;  ///< first column and width of the step's panel, first local row below it
  std::vector<double> panel_, gathered_, top_, lower_, left_;
};

}  // namespace

std::optional<std::size_t> DistributedMatrices::lu(std::size_t n, std::size_t extra,
                                                   Numbers<double> matrix,
                                                   std::span<std::int64_t> pivots) {
  double* const a = matrix.data();
  Impl& x = *impl_;
  const std::string call =
      "DistributedMatrices::lu of n = " + std::to_string(n) + ", extra = " + std::to_string(extra);
  collectively(&x.ranks, call, [&] {
    dense::require_count(n, std::max<std::size_t>(1, n + extra), "the matrix");
    matrix.need(local_rows(n) * local_columns(n + extra), "the matrix");
    if (a == nullptr && local_rows(n) * local_columns(n + extra) > 0)
      throw Error(ErrorCategory::Usage, "the matrix is a null pointer");
    dense::require_pivots(pivots.size(), n);
  });
  return Factorisation(x, n, n + extra, a, pivots).run();
}

std::vector<double> DistributedMatrices::solve(std::size_t n, Numbers<double> matrix) {
  const double* const a = matrix.data();
  Impl& x = *impl_;
  std::vector<std::int64_t> pivots;
  std::vector<double> solution, y, part;
  const std::size_t rows = local_rows(n), stride = std::max<std::size_t>(1, rows);
  collectively(&x.ranks, "DistributedMatrices::solve of n = " + std::to_string(n), [&] {
    dense::require_count(n, std::max<std::size_t>(1, n + 1), "the matrix");
    pivots.resize(n);
    solution.resize(n);
    y.resize(rows);
    part.resize(rows);
  });
  const auto zero = lu(n, 1, matrix, pivots);
  if (zero)
    throw CollectiveError(ErrorCategory::Input, "the matrix is singular: pivot " +
                                                    std::to_string(*zero) + " is exactly zero");
  // Back substitution by blocks: the owner of the block's columns multiplies, the owner of y
  // subtracts.
  const auto y_owner = static_cast<unsigned>(x.columns.owner(n));
  const bool has_y = x.columns.part == y_owner;
  if (has_y && rows > 0) std::copy_n(a + x.columns.local(n) * stride, rows, y.data());
  const std::size_t block = x.options.block;
  for (std::size_t k = (n + block - 1) / block; k-- > 0;) {
    const std::size_t at = k * block, width = std::min(block, n - at);
    const auto owner_row = static_cast<unsigned>(x.rows.owner(at));
    const auto owner_column = static_cast<unsigned>(x.columns.owner(at));
    double* const now = solution.data() + at;
    if (x.rows.part == owner_row) {
      if (has_y) std::copy_n(y.data() + x.rows.local(at), width, now);
      x.row->broadcast(now, width * sizeof(double), y_owner);
      if (x.columns.part == owner_column) {
        const double* const u = a + x.rows.local(at) + x.columns.local(at) * stride;
        for (std::size_t i = width; i-- > 0;) {
          now[i] /= u[i + i * stride];
          for (std::size_t r = 0; r < i; ++r) now[r] -= u[r + i * stride] * now[i];
        }
      }
    }
    x.ranks.broadcast(now, width * sizeof(double),
                      owner_row * static_cast<unsigned>(x.columns.parts) + owner_column);
    const std::size_t above = x.rows.count(at);
    if (x.columns.part == owner_column) {
      std::fill(part.begin(), part.end(), 0.0);
      for (std::size_t j = 0; j < width; ++j)
        for (std::size_t l = 0; l < above; ++l)
          part[l] += a[l + (x.columns.local(at) + j) * stride] * now[j];
    }
    x.row->broadcast(part.data(), above * sizeof(double), owner_column);
    if (has_y)
      for (std::size_t l = 0; l < above; ++l) y[l] -= part[l];
  }
  return solution;
}

}  // namespace gdr
