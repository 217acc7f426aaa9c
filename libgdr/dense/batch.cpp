// Batches: elements are gathered word by word, the device computes all problems, and the host
// recomputes those with numbers that the chip does not represent. For a native engine, which has
// the numbers of the host, the host computes all of them.
#include "gdr/batch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "kernels/builtin.hpp"
#include "libgdr/dense/batch_host.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/views.hpp"
#include "libgdr/device/usage_error.hpp"

namespace gdr {
namespace {

/// Long words of a PE's local memory, shared by the problems of the PE.
constexpr std::size_t pe_words = 256;

/// Replaces NUMBER in the line `begin NUMBER`.
void set_constant(std::string& text, const std::string& begin, std::size_t value) {
  const std::size_t line = text.find("\n" + begin + " ");
  if (line == std::string::npos)
    throw Error(ErrorCategory::Internal, "the batch kernel has no line \"" + begin + "\"");
  const std::size_t number = line + begin.size() + 2;
  text.replace(number, text.find('\n', number) - number, std::to_string(value));
}

/// The instance of kernels/dense/NAME.gds with these constants, for problems of `words` words;
/// `full` is 1 for full precision, else 0.
Kernel batch_kernel(std::string_view name,
                    std::initializer_list<std::pair<std::string_view, std::size_t>> constants,
                    std::size_t full, std::size_t words) {
  std::string text(dense_kernel(name));
  for (const auto& [constant, value] : constants)
    set_constant(text, "const " + std::string(constant) + " =", value);
  set_constant(text, "const full =", full);
  // Four problems in a PE keep its pipelines full; larger ones leave idle clocks.
  const std::size_t elements = 4 * words <= pe_words ? 4 : 2 * words <= pe_words ? 2 : 1;
  for (const char* const line : {"const elements =", ".elements", "vlen"})
    set_constant(text, line, elements);
  return Kernel::assemble(text, std::string(name) + ".gds");
}

/// Largest LU whose full-precision kernel fits the instruction memory, rows.
constexpr std::size_t max_full_precision_rows = 13;

/// Matrix i of a batch.
template <typename Number>
MatrixView<Number> matrix_at(const MatrixBatch<Number>& batch, std::size_t i) noexcept {
  return {batch.data + i * batch.step, batch.stride, Transpose::No};
}
MatrixBatch<const double> const_view(const MatrixBatch<double>& batch) noexcept {
  return {batch.data, batch.stride, batch.step};
}

template <typename Number>
void require_batch(const MatrixBatch<Number>& batch, std::size_t count, std::size_t rows,
                   std::size_t columns, const char* name) {
  if (count == 0) return;
  dense::require_matrix(matrix_at(batch, 0), rows, columns, name);
  // Matrices may coincide (step 0), but each occupies words of its own on the link.
  dense::require_count(count, std::max(batch.step, pe_words), "the batch of " + std::string(name));
}

/// Throws Error (Usage) where results overlap one another.
void require_results(const MatrixBatch<double>& batch, std::size_t count, std::size_t rows,
                     std::size_t columns, const char* name) {
  require_batch(batch, count, rows, columns, name);
  if (count < 2 || rows == 0 || columns == 0) return;
  const std::size_t needed = (columns - 1) * batch.stride + rows;
  if (batch.step < needed)
    usage_error("matrices " + std::string(name) + " are " + std::to_string(batch.step) +
                " elements apart, but each takes " + std::to_string(needed));
}

void require_fit(std::size_t words, const std::string& what) {
  if (words > pe_words)
    usage_error(what + " need " + std::to_string(words) + " words, but a PE has " +
                std::to_string(pe_words) + ": use LinearSolver or MatrixProduct for each");
}

/// Whether the chip's division covers this pivot.
bool is_supported_pivot(double pivot) noexcept {
  const double size = std::fabs(pivot);
  return size >= 0x1p-1000 && size <= 0x1p1000;
}

}  // namespace

struct BatchedMatrices::Impl {
  Impl(Device& d, MatrixPrecision precision)
      : device(&d), core(core_of(d)), full(precision == MatrixPrecision::Full ? 1 : 0) {}

  /// Whether the engine computes in the numbers of the host, which does it faster by itself.
  bool computes_on_host() {
    return core->ranks == nullptr && !core->remote_boards && !core->needs_schedule();
  }
  /// Runs a computation of the host like work of the device, which must be open.
  void run_on_host(const std::function<void(unsigned threads)>& compute) {
    Work work;
    work.body = [&](const std::stop_token&) { compute(core->job_threads()); };
    core->queue.run(work);
  }

  /// Elements of all problems: word w of problem i at w * count + i.
  struct ProblemWords {
    std::size_t count = 0;
    std::vector<double> values;
    double* word(std::size_t w) noexcept { return values.data() + w * count; }
  };

  /// Appends the words of a batch, and marks the problems with numbers that the chip does not
  /// represent.
  void gather(const MatrixBatch<const double>& batch, std::size_t rows, std::size_t columns,
              ProblemWords& words) {
    const std::size_t first = words.values.size();
    words.values.resize(first + rows * columns * words.count);
    double* to = words.values.data() + first;
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t i = 0; i < words.count; ++i) {
          const double x = batch.data[r + c * batch.stride + i * batch.step];
          const bool usual = x == 0 || std::isnormal(x);
          if (!usual) on_host[i] = true;
          *to++ = usual ? x : 0;
        }
  }
  static void scatter(const double* word, std::size_t count, std::size_t i, std::size_t rows,
                      std::size_t columns, const MatrixView<double>& to) {
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r)
        to.data[r + c * to.stride] = word[(r + c * rows) * count + i];
  }

  /// Inputs and results by the prefix of their names: "a" denotes a0, a1, ...
  struct NamedWords {
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
    return kernels.emplace(key, batch_kernel(name, constants, full, words)).first->second;
  }

  void run(const Kernel& with, std::initializer_list<NamedWords> inputs, ProblemWords& in,
           const NamedWords& result, ProblemWords& out, const std::string& rows = {},
           std::vector<std::int64_t>* order = nullptr) {
    std::vector<std::string> names;
    names.reserve(3 * pe_words);  // views of them must stay valid
    const auto name = [&names](const std::string& begin, std::size_t w) -> std::string_view {
      return names.emplace_back(begin + std::to_string(w));
    };
    std::vector<NamedInput> targets;
    for (const NamedWords& input : inputs)
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
  std::shared_ptr<DeviceCore> core;  ///< core of the device
  std::size_t full;                  ///< value of the kernels' constant `full`: 1 in full precision
  std::map<std::string, Kernel> kernels;
  std::vector<bool> on_host;  ///< flags by problem: computed by the host
};

BatchedMatrices::BatchedMatrices(Device& device, MatrixPrecision precision)
    : impl_(std::make_unique<Impl>(device, precision)) {}
BatchedMatrices::~BatchedMatrices() = default;
BatchedMatrices::BatchedMatrices(BatchedMatrices&&) noexcept = default;
BatchedMatrices& BatchedMatrices::operator=(BatchedMatrices&&) noexcept = default;

void BatchedMatrices::multiply(std::size_t count, std::size_t m, std::size_t n, std::size_t k,
                               const MatrixBatch<const double>& a,
                               const MatrixBatch<const double>& b, const MatrixBatch<double>& c) {
  require_batch(a, count, m, n > 0 ? k : 0, "A");
  require_batch(b, count, k, m > 0 ? n : 0, "B");
  require_results(c, count, m, n, "C");
  if (count == 0 || m == 0 || n == 0) return;
  const std::size_t limit = pe_words;
  const std::size_t words = std::max({m, n, k}) > limit ? limit + 1 : m * k + k * n + m * n;
  require_fit(words, "products of " + std::to_string(m) + " x " + std::to_string(k) + " by " +
                         std::to_string(k) + " x " + std::to_string(n));
  if (impl_->computes_on_host())
    return impl_->run_on_host(
        [&](unsigned threads) { dense::multiply_batch(count, m, n, k, a, b, c, threads); });
  Impl::ProblemWords in{count, {}}, out;
  impl_->on_host.assign(count, false);
  if (k > 0) {
    impl_->gather(a, m, k, in);
    impl_->gather(b, k, n, in);
    impl_->run(impl_->kernel("batched_product", {{"m", m}, {"n", n}, {"k", k}}, words),
               {{"a", m * k}, {"b", k * n}}, in, {"c", m * n}, out);
  } else {
    out.values.assign(m * n * count, 0);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const MatrixView<double> to = matrix_at(c, i);
    Impl::scatter(out.values.data(), count, i, m, n, to);
    if (!impl_->on_host[i]) continue;
    for (std::size_t column = 0; column < n; ++column)
      for (std::size_t row = 0; row < m; ++row) {
        double sum = 0;
        for (std::size_t l = 0; l < k; ++l)
          sum +=
              dense::element(matrix_at(a, i), row, l) * dense::element(matrix_at(b, i), l, column);
        to.data[row + column * to.stride] = sum;
      }
  }
}

std::size_t BatchedMatrices::lu(std::size_t count, std::size_t n, const MatrixBatch<double>& a,
                                std::span<std::int64_t> pivots) {
  require_results(a, count, n, n, "A");
  if (count == 0 || n == 0) return 0;
  const std::size_t words = n > pe_words ? n : n * n + n;
  require_fit(words, "factors of " + std::to_string(n) + " x " + std::to_string(n));
  dense::require_pivots(pivots.size(), count * n);
  std::size_t singular = 0;
  if (impl_->computes_on_host()) {
    impl_->run_on_host(
        [&](unsigned threads) { singular = dense::factor_batch(count, n, a, pivots, threads); });
    return singular;
  }
  Impl::ProblemWords in{count, {}}, out;
  const bool on_device = impl_->full == 0 || n <= max_full_precision_rows;
  impl_->on_host.assign(count, !on_device);
  std::vector<std::int64_t> order(n * count), rows(n);
  if (on_device) {
    impl_->gather(const_view(a), n, n, in);
    impl_->run(impl_->kernel("batched_lu", {{"n", n}}, words), {{"a", n * n}}, in, {"lu", n * n},
               out, "row", &order);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto own = pivots.subspan(i * n, n);
    bool on_host = impl_->on_host[i], zero = false;
    for (std::size_t k = 0; k < n && !on_host; ++k) {
      const double pivot = out.word(k + n * k)[i];
      zero = zero || pivot == 0;
      on_host = pivot != 0 && !is_supported_pivot(pivot);
    }
    if (on_host) {
      zero = dense::factor_panel(n, matrix_at(a, i), own, {}).has_value();
    } else {
      Impl::scatter(out.values.data(), count, i, n, n, matrix_at(a, i));
      // Convert the permutation of the rows to a sequence of exchanges.
      for (std::size_t r = 0; r < n; ++r) rows[r] = static_cast<std::int64_t>(r);
      for (std::size_t r = 0; r < n; ++r) {
        const auto at = std::find(rows.begin() + static_cast<std::ptrdiff_t>(r), rows.end(),
                                  order[r * count + i]);
        if (at == rows.end())
          throw Error(ErrorCategory::Internal,
                      "the row order of a batched LU is not a permutation");
        own[r] = at - rows.begin();
        std::iter_swap(at, rows.begin() + static_cast<std::ptrdiff_t>(r));
      }
    }
    singular += zero ? 1 : 0;
  }
  return singular;
}

void BatchedMatrices::solve(std::size_t count, std::size_t n, std::size_t columns,
                            const MatrixBatch<const double>& lu,
                            std::span<const std::int64_t> pivots, const MatrixBatch<double>& b) {
  require_batch(lu, count, n, columns > 0 ? n : 0, "LU");
  require_results(b, count, n, columns, "B");
  if (count == 0 || n == 0 || columns == 0) return;
  require_fit(n > pe_words ? n : n * n + n,
              "systems of " + std::to_string(n) + " x " + std::to_string(n));
  dense::require_pivots(pivots.size(), count * n);
  for (std::size_t i = 0; i < count; ++i)
    dense::require_valid_pivots(pivots.subspan(i * n, n), n, " of matrix " + std::to_string(i));
  if (impl_->computes_on_host())
    return impl_->run_on_host(
        [&](unsigned threads) { dense::solve_batch(count, n, columns, lu, pivots, b, threads); });

  // Right-hand sides after the row exchanges; overwritten with X.
  std::vector<double> x(n * columns * count);
  const auto own = [&](std::size_t i) {
    return MatrixView<double>{x.data() + i * n * columns, n, Transpose::No};
  };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < columns; ++c)
      std::copy_n(matrix_at(b, i).data + c * b.stride, n, own(i).data + c * n);
    dense::exchange_rows(columns, own(i), pivots.subspan(i * n, n), {});
  }
  const std::vector<double> exchanged = x;
  impl_->on_host.assign(count, false);
  const std::size_t most = std::min(columns, (pe_words - n * n) / n);
  for (std::size_t first = 0; first < columns; first += most) {
    const std::size_t width = std::min(most, columns - first);
    Impl::ProblemWords in{count, {}}, out;
    impl_->gather(lu, n, n, in);
    impl_->gather({x.data() + first * n, n, n * columns}, n, width, in);
    impl_->run(impl_->kernel("batched_solve", {{"n", n}, {"m", width}}, n * n + n * width),
               {{"lu", n * n}, {"b", n * width}}, in, {"x", n * width}, out);
    for (std::size_t i = 0; i < count; ++i)
      Impl::scatter(out.values.data(), count, i, n, width, dense::submatrix(own(i), 0, first));
  }
  const dense::Subtract subtract = dense::subtract_on({});
  for (std::size_t i = 0; i < count; ++i) {
    bool on_host = impl_->on_host[i];
    for (std::size_t k = 0; k < n; ++k)
      on_host = on_host || !is_supported_pivot(dense::element(matrix_at(lu, i), k, k));
    const double* const solution = own(i).data;
    const bool finite = std::all_of(solution, solution + n * columns,
                                    [](double value) { return std::isfinite(value); });
    if (on_host || !finite) {
      std::copy_n(exchanged.data() + i * n * columns, n * columns, own(i).data);
      dense::solve_triangle(Side::Left, {n, true, true, matrix_at(lu, i)}, columns, own(i),
                            subtract, {});
      dense::solve_triangle(Side::Left, {n, false, false, matrix_at(lu, i)}, columns, own(i),
                            subtract, {});
    }
    for (std::size_t c = 0; c < columns; ++c)
      std::copy_n(own(i).data + c * n, n, matrix_at(b, i).data + c * b.stride);
  }
}

}  // namespace gdr
