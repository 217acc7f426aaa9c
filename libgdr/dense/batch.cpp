// Batches: numbers are gathered word by word, the device works on all problems, and those that are
// not for the chip are done again here.
#include "gdr/batch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/dense/batch_kernel.hpp"
#include "libgdr/dense/panel.hpp"
#include "libgdr/dense/triangular.hpp"
#include "libgdr/dense/updates.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr {
namespace {

using dense::words_of_pe;

/// Rows of an LU whose kernel fits the instruction memory with all bits of the factors.
constexpr std::size_t most_rows_full = 13;

[[noreturn]] void usage(const std::string& message) { throw Error(ErrorCategory::Usage, message); }

/// Matrix i of a batch.
template <typename Number>
MatrixView<Number> one(const MatrixBatch<Number>& batch, std::size_t i) noexcept {
  return {batch.data + i * batch.step, batch.stride, Transpose::No};
}
MatrixBatch<const double> readable(const MatrixBatch<double>& batch) noexcept {
  return {batch.data, batch.stride, batch.step};
}

template <typename Number>
void require_batch(const MatrixBatch<Number>& batch, std::size_t count, std::size_t rows,
                   std::size_t columns, const char* name) {
  if (count == 0) return;
  dense::require_matrix(one(batch, 0), rows, columns, name);
  // Matrices may be one and the same (step 0), but each has its words on the way to the chip.
  dense::require_count(count, std::max(batch.step, words_of_pe),
                       "the batch of " + std::string(name));
}

/// Results must not lie in one another.
void require_results(const MatrixBatch<double>& batch, std::size_t count, std::size_t rows,
                     std::size_t columns, const char* name) {
  require_batch(batch, count, rows, columns, name);
  if (count < 2 || rows == 0 || columns == 0) return;
  const std::size_t needed = (columns - 1) * batch.stride + rows;
  if (batch.step < needed)
    usage("matrices " + std::string(name) + " are " + std::to_string(batch.step) +
          " elements apart, but each takes " + std::to_string(needed));
}

void require_fit(std::size_t words, const std::string& what) {
  if (words > words_of_pe)
    usage(what + " need " + std::to_string(words) + " words, but a PE has " +
          std::to_string(words_of_pe) + ": use LinearSolver or MatrixProduct for each");
}

void require_pivots(std::size_t given, std::size_t needed) {
  if (given < needed)
    usage("there is room for " + std::to_string(given) + " pivots, but " + std::to_string(needed) +
          " are needed");
}

/// What the chip can divide by.
bool in_range(double pivot) noexcept {
  const double size = std::fabs(pivot);
  return size >= 0x1p-1000 && size <= 0x1p1000;
}

}  // namespace

struct SmallMatrices::Impl {
  Impl(Device& d, MatrixPrecision precision)
      : device(&d), full(precision == MatrixPrecision::Full ? 1 : 0) {}

  /// Numbers of all problems: word w of problem i at w * count + i.
  struct Words {
    std::size_t count = 0;
    std::vector<double> values;
    double* word(std::size_t w) noexcept { return values.data() + w * count; }
  };

  /// Appends the words of a batch, and marks the problems whose numbers the chip does not have.
  void gather(const MatrixBatch<const double>& batch, std::size_t rows, std::size_t columns,
              Words& words) {
    const std::size_t first = words.values.size();
    words.values.resize(first + rows * columns * words.count);
    double* to = words.values.data() + first;
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t i = 0; i < words.count; ++i) {
          const double x = batch.data[r + c * batch.stride + i * batch.step];
          const bool usual = x == 0 || std::isnormal(x);
          if (!usual) apart[i] = true;
          *to++ = usual ? x : 0;
        }
  }
  static void scatter(const double* word, std::size_t count, std::size_t i, std::size_t rows,
                      std::size_t columns, const MatrixView<double>& to) {
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r)
        to.data[r + c * to.stride] = word[(r + c * rows) * count + i];
  }

  /// Inputs and results by the names of their first letters: "a" stands for a0, a1, ...
  struct Named {
    std::string name;
    std::size_t words;
  };
  const Kernel& kernel(const char* name,
                       std::initializer_list<std::pair<std::string_view, std::size_t>> constants,
                       std::size_t words) {
    std::string key = name;
    for (const auto& constant : constants) key += ' ' + std::to_string(constant.second);
    const auto known = kernels.find(key);
    if (known != kernels.end()) return known->second;
    return kernels.emplace(key, dense::batch_kernel(name, constants, full, words)).first->second;
  }

  void run(const Kernel& with, std::initializer_list<Named> inputs, Words& in, const Named& result,
           Words& out, const std::string& rows = {}, std::vector<std::int64_t>* order = nullptr) {
    std::vector<std::string> names;
    names.reserve(3 * words_of_pe);  // views of them must stay valid
    const auto name = [&names](const std::string& begin, std::size_t w) -> std::string_view {
      return names.emplace_back(begin + std::to_string(w));
    };
    std::vector<NamedInput> targets;
    for (const Named& input : inputs)
      for (std::size_t w = 0; w < input.words; ++w)
        targets.push_back({name(input.name, w), in.word(targets.size())});
    out.count = in.count;
    out.values.resize(result.words * in.count);
    std::vector<NamedResult> results;
    for (std::size_t w = 0; w < result.words; ++w)
      results.push_back({name(result.name, w), out.word(w)});
    for (std::size_t r = 0; order != nullptr && r < order->size() / in.count; ++r)
      results.push_back({name(rows, r), order->data() + r * in.count});
    Job job = device->job(with);
    job.targets(in.count, targets);
    job.run(results);
  }

  Device* device;
  std::size_t full;  ///< the kernels' constant
  std::map<std::string, Kernel> kernels;
  std::vector<bool> apart;  ///< problems for the host
};

SmallMatrices::SmallMatrices(Device& device, MatrixPrecision precision)
    : impl_(std::make_unique<Impl>(device, precision)) {}
SmallMatrices::~SmallMatrices() = default;
SmallMatrices::SmallMatrices(SmallMatrices&&) noexcept = default;
SmallMatrices& SmallMatrices::operator=(SmallMatrices&&) noexcept = default;

void SmallMatrices::multiply(std::size_t count, std::size_t m, std::size_t n, std::size_t k,
                             const MatrixBatch<const double>& a, const MatrixBatch<const double>& b,
                             const MatrixBatch<double>& c) {
  require_batch(a, count, m, n > 0 ? k : 0, "A");
  require_batch(b, count, k, m > 0 ? n : 0, "B");
  require_results(c, count, m, n, "C");
  if (count == 0 || m == 0 || n == 0) return;
  const std::size_t limit = words_of_pe;
  const std::size_t words = std::max({m, n, k}) > limit ? limit + 1 : m * k + k * n + m * n;
  require_fit(words, "products of " + std::to_string(m) + " x " + std::to_string(k) + " by " +
                         std::to_string(k) + " x " + std::to_string(n));
  Impl::Words in{count, {}}, out;
  impl_->apart.assign(count, false);
  if (k > 0) {
    impl_->gather(a, m, k, in);
    impl_->gather(b, k, n, in);
    impl_->run(impl_->kernel("small_product", {{"m", m}, {"n", n}, {"k", k}}, words),
               {{"a", m * k}, {"b", k * n}}, in, {"c", m * n}, out);
  } else {
    out.values.assign(m * n * count, 0);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const MatrixView<double> to = one(c, i);
    Impl::scatter(out.values.data(), count, i, m, n, to);
    if (!impl_->apart[i]) continue;
    for (std::size_t column = 0; column < n; ++column)
      for (std::size_t row = 0; row < m; ++row) {
        double sum = 0;
        for (std::size_t l = 0; l < k; ++l)
          sum += dense::element(one(a, i), row, l) * dense::element(one(b, i), l, column);
        to.data[row + column * to.stride] = sum;
      }
  }
}

std::size_t SmallMatrices::lu(std::size_t count, std::size_t n, const MatrixBatch<double>& a,
                              std::span<std::int64_t> pivots) {
  require_results(a, count, n, n, "A");
  if (count == 0 || n == 0) return 0;
  const std::size_t words = n > words_of_pe ? n : n * n + n;
  require_fit(words, "factors of " + std::to_string(n) + " x " + std::to_string(n));
  require_pivots(pivots.size(), count * n);
  Impl::Words in{count, {}}, out;
  impl_->apart.assign(count, false);
  if (impl_->full != 0 && n > most_rows_full) {
    std::size_t singular = 0;
    for (std::size_t i = 0; i < count; ++i)
      singular += dense::factor_panel(n, one(a, i), pivots.subspan(i * n, n), 1) ? 1 : 0;
    return singular;
  }
  impl_->gather(readable(a), n, n, in);
  std::vector<std::int64_t> order(n * count), rows(n);
  impl_->run(impl_->kernel("small_lu", {{"n", n}}, words), {{"a", n * n}}, in, {"lu", n * n}, out,
             "row", &order);
  std::size_t singular = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto own = pivots.subspan(i * n, n);
    bool apart = impl_->apart[i], zero = false;
    for (std::size_t k = 0; k < n && !apart; ++k) {
      const double pivot = out.word(k + n * k)[i];
      zero = zero || pivot == 0;
      apart = pivot != 0 && !in_range(pivot);
    }
    if (apart) {
      zero = dense::factor_panel(n, one(a, i), own, 1).has_value();
    } else {
      Impl::scatter(out.values.data(), count, i, n, n, one(a, i));
      // The order of the rows as exchanges, one after the other.
      for (std::size_t r = 0; r < n; ++r) rows[r] = static_cast<std::int64_t>(r);
      for (std::size_t r = 0; r < n; ++r) {
        const auto at = std::find(rows.begin() + static_cast<std::ptrdiff_t>(r), rows.end(),
                                  order[r * count + i]);
        if (at == rows.end())
          throw Error(ErrorCategory::Internal, "the rows of a small matrix are in no order");
        own[r] = at - rows.begin();
        std::iter_swap(at, rows.begin() + static_cast<std::ptrdiff_t>(r));
      }
    }
    singular += zero ? 1 : 0;
  }
  return singular;
}

void SmallMatrices::solve(std::size_t count, std::size_t n, std::size_t columns,
                          const MatrixBatch<const double>& lu, std::span<const std::int64_t> pivots,
                          const MatrixBatch<double>& b) {
  require_batch(lu, count, n, columns > 0 ? n : 0, "LU");
  require_results(b, count, n, columns, "B");
  if (count == 0 || n == 0 || columns == 0) return;
  require_fit(n > words_of_pe ? n : n * n + n,
              "systems of " + std::to_string(n) + " x " + std::to_string(n));
  require_pivots(pivots.size(), count * n);
  for (std::size_t i = 0; i < count * n; ++i)
    if (pivots[i] < static_cast<std::int64_t>(i % n) || pivots[i] >= static_cast<std::int64_t>(n))
      usage("pivot " + std::to_string(i % n) + " of matrix " + std::to_string(i / n) + " is " +
            std::to_string(pivots[i]) + ": they count from 0, as SmallMatrices::lu gives them");

  // Right-hand sides with their rows exchanged; they become X.
  std::vector<double> x(n * columns * count);
  const auto own = [&](std::size_t i) {
    return MatrixView<double>{x.data() + i * n * columns, n, Transpose::No};
  };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < columns; ++c)
      std::copy_n(one(b, i).data + c * b.stride, n, own(i).data + c * n);
    dense::exchange_rows(columns, own(i), pivots.subspan(i * n, n), 1);
  }
  const std::vector<double> exchanged = x;
  std::vector<bool> apart(count, false);
  const std::size_t most = std::min(columns, (words_of_pe - n * n) / n);
  for (std::size_t first = 0; first < columns; first += most) {
    const std::size_t width = std::min(most, columns - first);
    Impl::Words in{count, {}}, out;
    impl_->apart.assign(count, false);
    impl_->gather(lu, n, n, in);
    impl_->gather({x.data() + first * n, n, n * columns}, n, width, in);
    impl_->run(impl_->kernel("small_solve", {{"n", n}, {"m", width}}, n * n + n * width),
               {{"lu", n * n}, {"b", n * width}}, in, {"x", n * width}, out);
    for (std::size_t i = 0; i < count; ++i) {
      Impl::scatter(out.values.data(), count, i, n, width, dense::from(own(i), 0, first));
      apart[i] = apart[i] || impl_->apart[i];
    }
  }
  const auto subtract = [](std::size_t r, std::size_t c, std::size_t k, const auto& left,
                           const auto& right, const auto& from) {
    dense::subtract_on_host(r, c, k, left, right, from, 1);
  };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < n; ++k)
      if (!in_range(dense::element(one(lu, i), k, k))) apart[i] = true;
    const double* const solution = own(i).data;
    const bool finite = std::all_of(solution, solution + n * columns,
                                    [](double value) { return std::isfinite(value); });
    if (apart[i] || !finite) {
      std::copy_n(exchanged.data() + i * n * columns, n * columns, own(i).data);
      dense::solve_triangle(Side::Left, {n, true, true, one(lu, i)}, columns, own(i), subtract, 1);
      dense::solve_triangle(Side::Left, {n, false, false, one(lu, i)}, columns, own(i), subtract,
                            1);
    }
    for (std::size_t c = 0; c < columns; ++c)
      std::copy_n(own(i).data + c * n, n, one(b, i).data + c * b.stride);
  }
}

}  // namespace gdr
