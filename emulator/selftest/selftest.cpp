#include "emulator/selftest/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>

#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/reference/reference.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/host/threads.hpp"
#include "emulator/selftest/case.hpp"
#include "gdr/error.hpp"

namespace gdr::selftest {
namespace {

/// A category of cases, with its fraction of the time and its generator; none: of kernels.
struct Category {
  std::string_view name;
  double share;
  Case (*make)(std::uint64_t seed);
};
constexpr std::array<Category, 4> categories{{{"operations", 0.45, operation_case},
                                              {"programs", 0.25, program_case},
                                              {"loops", 0.22, loop_case},
                                              {"kernels", 0.08, nullptr}}};

/// One run: threads generate cases until the time or number is reached, or a difference is found.
class Run {
 public:
  Run(const std::vector<std::unique_ptr<Engine>>& engines, const Options& options)
      : engines_(engines), options_(options) {
    for (std::size_t c = 0; c < categories.size(); ++c) {
      const bool wanted = options.category.empty() || options.category == categories[c].name;
      wanted_[c] = wanted && (categories[c].make != nullptr || !options.kernels.empty());
    }
  }

  Outcome go() {
    run_concurrently(usable_threads(options_.threads), [this](std::size_t) { work(); });
    if (error_) std::rethrow_exception(error_);
    Outcome outcome;
    for (std::size_t c = 0; c < categories.size(); ++c) {
      if (wanted_[c])
        outcome.counts.push_back({categories[c].name, tallies_[c].cases, tallies_[c].operations});
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
      for (std::size_t category; !done_ && (category = next()) != categories.size();) {
        const Stopwatch timer;
        test(category, options_.seed + tallies_[category].started++);
        tallies_[category].nanoseconds += static_cast<std::uint64_t>(timer.seconds() * 1e9);
        report();
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      done_ = true;
    }
  }

  /// The category that is furthest behind its share of time; categories.size() at the end.
  std::size_t next() {
    const bool late = options_.cases == 0 && timer_.seconds() >= options_.seconds;
    std::size_t best = categories.size();
    double least = 0;
    for (std::size_t c = 0; c < categories.size(); ++c) {
      const bool enough = options_.cases != 0 ? tallies_[c].started >= options_.cases : late;
      if (!wanted_[c] || enough) continue;
      const double used = static_cast<double>(tallies_[c].nanoseconds) / categories[c].share;
      if (best == categories.size() || used < least) {
        best = c;
        least = used;
      }
    }
    return best;
  }

  void test(std::size_t category, std::uint64_t seed) {
    const auto& kernels = options_.kernels;
    const auto make = categories[category].make;
    const Case test_case =
        make != nullptr ? make(seed) : kernel_case(kernels[seed % kernels.size()], seed);
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
    Failure f{.category = categories[category].name,
              .seed = seed,
              .engine = std::string(engine.name()),
              .isa = engine.isa(),
              .what = test_case.what,
              .first = find_divergence(reference_, engine, test_case).value_or(Divergence{}),
              .shrunk = shrink(reference_, engine, test_case),
              .in_shrunk = {}};
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
    const std::scoped_lock lock(mutex_);
    options_.progress(gone);
  }

  const std::vector<std::unique_ptr<Engine>>& engines_;
  const Options& options_;
  const ReferenceEngine reference_;
  const Stopwatch timer_;
  std::array<bool, categories.size()> wanted_{};
  std::array<Tally, categories.size()> tallies_;
  std::mutex mutex_;  ///< guards `error_` and calls of `progress`
  std::atomic<bool> done_ = false;
  std::exception_ptr error_;
  std::optional<Failure> failure_;  // written by the thread that set done_ first
};

std::string divergence_text(const Divergence& d, std::string_view engine) {
  std::string text = fmt::format("  section {}, iteration {}, instruction {}: {}\n",
                                 section_name(d.section), d.iteration, d.instruction, d.text);
  if (!d.alone) {
    text +=
        "  executed alone it gives equal words; the difference depends on earlier instructions\n";
  }
  text += fmt::format("  PE {}", d.pe);
  if (d.element >= 0) text += fmt::format(", element {}", d.element);
  text += fmt::format(", {} ({} address {})\n", d.place, d.memory, d.address);
  text += fmt::format("    {:<10} {}\n", "reference", word_text(d.expected, d.width));
  text += fmt::format("    {:<10} {}\n", engine, word_text(d.got, d.width));
  for (const std::string& operand : d.operands) text += fmt::format("    {}\n", operand);
  return text;
}

/// Parameters of the run that are not in the program.
std::string run_text(const Case& test) {
  const BlockRun& r = test.run;
  return fmt::format("# {} PE{}, {} iteration{}, sources at {} + {} n, outputs at {} + {} n{}\n",
                     test.state.pes, test.state.pes == 1 ? "" : "s", r.iterations,
                     r.iterations == 1 ? "" : "s", r.source_base, r.source_step, r.output_base,
                     r.output_step, r.collect_flags ? ", flags collected" : "");
}

}  // namespace

Outcome run(const std::vector<std::unique_ptr<Engine>>& engines, const Options& options) {
  if (!options.category.empty() &&
      std::ranges::find(categories, options.category, &Category::name) == categories.end()) {
    throw Error(ErrorCategory::Usage, fmt::format("there are no cases named '{}'; there are "
                                                  "operations, programs, loops and kernels",
                                                  options.category));
  }
  return Run(engines, options).go();
}

std::string failure_text(const Failure& f) {
  const std::string engine = fmt::format("{}/{}", f.engine, isa_name(f.isa));
  return fmt::format(
      "{} leaves another state than reference\n"
      "case: {} seed {}: {}\n"
      "first difference\n{}"
      "shrunk, first difference\n{}"
      "shrunk program\n{}{}",
      engine, f.category, f.seed, f.what, divergence_text(f.first, f.engine),
      divergence_text(f.in_shrunk, f.engine), run_text(f.shrunk), disassemble(f.shrunk.program));
}

}  // namespace gdr::selftest
