#include "emulator/selftest/selftest.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>

#include "emulator/engine/reference/reference.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/selftest/generators.hpp"
#include "emulator/selftest/shrink.hpp"
#include "gdr/error.hpp"

namespace gdr::selftest {
namespace {

constexpr std::array<std::string_view, 4> names{"operations", "programs", "loops", "kernels"};
/// Fractions of the time.
constexpr std::array<double, names.size()> shares{0.45, 0.25, 0.22, 0.08};
enum Category : std::size_t { Operations, Programs, Loops, Kernels };

Case make_case(std::size_t category, std::uint64_t seed, std::span<const Program> kernels) {
  switch (category) {
    case Operations:
      return operation_case(seed);
    case Programs:
      return program_case(seed);
    case Loops:
      return loop_case(seed);
    default:
      return kernel_case(kernels[seed % kernels.size()], seed);
  }
}

/// One run: threads generate cases until the time or number is reached, or a difference is found.
class Run {
 public:
  Run(const std::vector<std::unique_ptr<Engine>>& engines, const Options& options)
      : engines_(engines), options_(options) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      const bool wanted = options.category.empty() || options.category == names[c];
      wanted_[c] = wanted && (c != Kernels || !options.kernels.empty());
    }
  }

  Outcome go() {
    const int threads =
        options_.threads > 0 ? static_cast<int>(options_.threads) : omp_get_max_threads();
#pragma omp parallel num_threads(threads)
    work();
    if (error_) std::rethrow_exception(error_);
    Outcome outcome;
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (wanted_[c])
        outcome.counts.push_back({names[c], tallies_[c].cases, tallies_[c].operations});
    }
    outcome.failure = std::move(failure_);
    return outcome;
  }

 private:
  struct Tally {
    std::atomic<std::uint64_t> started{0}, cases{0}, operations{0}, nanoseconds{0};
  };

  void work() {
    try {
      for (std::size_t category; !done_ && (category = next()) != names.size();) {
        const Stopwatch timer;
        test(category, options_.seed + tallies_[category].started++);
        tallies_[category].nanoseconds += static_cast<std::uint64_t>(timer.seconds() * 1e9);
        report();
      }
    } catch (...) {
#pragma omp critical(gdr_selftest)
      if (!error_) error_ = std::current_exception();
      done_ = true;
    }
  }

  /// The category that is furthest behind its share of time; names.size() at the end.
  std::size_t next() {
    const bool late = options_.cases == 0 && timer_.seconds() >= options_.seconds;
    std::size_t best = names.size();
    double least = 0;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const bool enough = options_.cases != 0 ? tallies_[c].started >= options_.cases : late;
      if (!wanted_[c] || enough) continue;
      const double used = static_cast<double>(tallies_[c].nanoseconds) / shares[c];
      if (best == names.size() || used < least) {
        best = c;
        least = used;
      }
    }
    return best;
  }

  void test(std::size_t category, std::uint64_t seed) {
    const Case test_case = make_case(category, seed, options_.kernels);
    const BlockState expected = run_case(reference_, test_case);
    for (const auto& engine : engines_) {
      if (run_case(*engine, test_case) == expected) continue;
      if (!done_.exchange(true)) explain(category, seed, *engine, test_case);
      return;
    }
    ++tallies_[category].cases;
    tallies_[category].operations += operations_of(test_case);
  }

  void explain(std::size_t category, std::uint64_t seed, const Engine& engine,
               const Case& test_case) {
    Failure f;
    f.category = names[category];
    f.seed = seed;
    f.engine = engine.name();
    f.isa = engine.isa();
    f.what = test_case.what;
    f.first = find_divergence(reference_, engine, test_case).value_or(Divergence{});
    f.shrunk = shrink(reference_, engine, test_case);
    f.in_shrunk = find_divergence(reference_, engine, f.shrunk).value_or(Divergence{});
    failure_ = std::move(f);
  }

  void report() {
    if (!options_.progress) return;
    double gone = timer_.seconds();
    if (options_.cases != 0) {
      gone = 0;
      for (const Tally& tally : tallies_) gone += static_cast<double>(tally.cases);
    }
#pragma omp critical(gdr_selftest)
    options_.progress(gone);
  }

  const std::vector<std::unique_ptr<Engine>>& engines_;
  const Options& options_;
  const ReferenceEngine reference_;
  const Stopwatch timer_;
  std::array<bool, names.size()> wanted_{};
  std::array<Tally, names.size()> tallies_;
  std::atomic<bool> done_ = false;
  std::exception_ptr error_;
  std::optional<Failure> failure_;  // written by the thread that set done_ first
};

}  // namespace

Outcome run(const std::vector<std::unique_ptr<Engine>>& engines, const Options& options) {
  if (!options.category.empty() &&
      std::find(names.begin(), names.end(), options.category) == names.end()) {
    throw Error(ErrorCategory::Usage, "there are no cases named '" + std::string(options.category) +
                                          "'; there are operations, programs, loops and kernels");
  }
  return Run(engines, options).go();
}

}  // namespace gdr::selftest
