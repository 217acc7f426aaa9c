// Batches on the host: vectors of problems, of which threads compute groups.
#include "libgdr/dense/batch_host.hpp"

#include <algorithm>
#include <atomic>

#include "emulator/host/parallel.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/host/functions.hpp"

namespace gdr::dense {
namespace {

/// Problems of a task: some vectors of any instruction set.
constexpr std::size_t task_problems = 128;

/// The same matrices from number `first` on. HostFunctions do not write to factors.
HostBatch batch_from(const MatrixBatch<const double>& batch, std::size_t first) {
  return {const_cast<double*>(batch.data) + first * batch.step, batch.stride, batch.step};
}
HostBatch batch_from(const MatrixBatch<double>& batch, std::size_t first) {
  return {batch.data + first * batch.step, batch.stride, batch.step};
}

/// Calls work(first, count) for all problems, at most one vector of them at a time. `operations`
/// are those of one problem.
template <typename Work>
void for_each_vector(std::size_t problems, std::size_t lanes, std::size_t operations,
                     unsigned threads, const Work& work) {
  const Phase phase{(problems + task_problems - 1) / task_problems, [&](std::size_t task) {
                      const std::size_t end = std::min(problems, (task + 1) * task_problems);
                      for (std::size_t i = task * task_problems; i < end; i += lanes)
                        work(i, std::min(lanes, end - i));
                    }};
  const double nanoseconds = static_cast<double>(problems) * static_cast<double>(operations);
  run_phases({&phase, 1}, threads_for(nanoseconds, threads));
}

}  // namespace

void multiply_batch(std::size_t count, std::size_t m, std::size_t n, std::size_t k,
                    const MatrixBatch<const double>& a, const MatrixBatch<const double>& b,
                    const MatrixBatch<double>& c, unsigned threads) {
  const HostFunctions& host = host_functions();
  for_each_vector(count, host.lanes, m * n * k, threads, [&](std::size_t i, std::size_t some) {
    host.multiply_batch({m, n, k, batch_from(a, i), batch_from(b, i), batch_from(c, i)}, some);
  });
}

std::size_t factor_batch(std::size_t count, std::size_t n, const MatrixBatch<double>& a,
                         std::span<std::int64_t> pivots, unsigned threads) {
  const HostFunctions& host = host_functions();
  std::atomic<std::size_t> singular{0};
  for_each_vector(count, host.lanes, n * n * n, threads, [&](std::size_t i, std::size_t some) {
    const std::uint64_t irregular =
        host.factor_batch(n, batch_from(a, i), some, pivots.data() + i * n);
    for (std::size_t lane = 0; irregular >> lane != 0; ++lane) {
      if ((irregular >> lane & 1) == 0) continue;
      // Zero pivots, infinities and NaN are treated as in a single matrix.
      const MatrixView<double> matrix{a.data + (i + lane) * a.step, a.stride, Transpose::No};
      if (factor_panel(n, matrix, pivots.subspan((i + lane) * n, n), {})) ++singular;
    }
  });
  return singular;
}

void solve_batch(std::size_t count, std::size_t n, std::size_t columns,
                 const MatrixBatch<const double>& lu, std::span<const std::int64_t> pivots,
                 const MatrixBatch<double>& b, unsigned threads) {
  const HostFunctions& host = host_functions();
  const std::size_t operations = n * n * columns;
  for_each_vector(count, host.lanes, operations, threads, [&](std::size_t i, std::size_t some) {
    const HostFactors factors{lu.data + i * lu.step, lu.stride, lu.step, pivots.data() + i * n};
    host.solve_batch(n, columns, factors, some, batch_from(b, i));
  });
}

}  // namespace gdr::dense
