// Estimates: runs of growing size until they are long enough to be timed, scaled to the call.
#include "gdr/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "gdr/gravity.hpp"
#include "gdr/tree_sum.hpp"
#include "libgdr/estimate/synthetic_arrays.hpp"

namespace gdr {
namespace {

/// Times of repeated runs, seconds.
struct RunTimes {
  double low = 0, median = 0, high = 0;
  bool tree = false;
};

RunTimes times_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return {seconds.front(), seconds[seconds.size() / 2], seconds.back()};
}

/// What was measured in this process, by what can change it. Other programs may change it, too:
/// times are measured again after a minute.
class MeasuredTimes {
 public:
  using Key = std::tuple<std::string, std::size_t, std::size_t>;

  template <typename Measure>
  RunTimes get(const Key& key, const Measure& measure) {
    {
      const std::scoped_lock lock(mutex_);
      const auto known = times_.find(key);
      if (known != times_.end() && Clock::now() - known->second.second < valid)
        return known->second.first;
    }
    const RunTimes times = measure();
    const std::scoped_lock lock(mutex_);
    std::erase_if(times_, [now = Clock::now()](const auto& entry) {
      return now - entry.second.second >= valid;
    });
    return times_.insert_or_assign(key, std::pair(times, Clock::now())).first->second.first;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds valid{60};
  std::mutex mutex_;
  std::map<Key, std::pair<RunTimes, Clock::time_point>> times_;
};

MeasuredTimes& measured_times() {
  static MeasuredTimes times;
  return times;
}

/// The kernel as the device executes it, and the params, on which skipped pairs depend.
std::string name_of(Device& device, const Kernel& prepared, const EstimateCall& call) {
  const Statistics s = device.statistics();
  std::string name = device.description() + '\n' + std::to_string(s.threads) + '\n';
  const std::vector<std::uint8_t>& bytes = prepared.program_object();
  name.append(bytes.begin(), bytes.end());
  for (const auto& [param, value] : call.params) name += fmt::format("\n{}={}", param, value);
  return name;
}

template <typename Sum>
void set_params(Sum& sum, const Kernel& kernel, const EstimateCall& call) {
  for (const KernelVariable& v : kernel.variables())
    if (v.role == Role::Param) sum.set(v.name, 1);
  for (const auto& [name, value] : call.params) sum.set(name, value);
}

/// Repeats a run until the times are known well enough: short ones are repeated more often.
template <typename Run>
RunTimes repeat(double enough, const Run& run) {
  run();  // compiles, and fills caches
  std::vector<double> seconds;
  double all = 0;
  while (seconds.size() < 5 && all < enough) {
    const Stopwatch timer;
    run();
    seconds.push_back(timer.seconds());
    all += seconds.back();
  }
  return times_of(std::move(seconds));
}

struct Counts {
  std::size_t targets = 0, sources = 0;
  bool operator==(const Counts&) const = default;
};

/// Measures runs of growing counts, up to those of the call, until one takes `enough` seconds.
template <typename Measure>
std::pair<Counts, RunTimes> grow(Counts start, Counts most, double enough, const Measure& measure) {
  Counts counts{std::min(start.targets, most.targets), std::min(start.sources, most.sources)};
  for (;;) {
    const RunTimes times = measure(counts);
    if (times.median >= enough || counts == most) return {counts, times};
    counts = {std::min(2 * counts.targets, most.targets),
              std::min(2 * counts.sources, most.sources)};
  }
}

/// Longer runs are not needed to know the rate of direct sums; their threads have started by then.
constexpr double enough_direct = 0.015, enough_tree = 0.06;

/// How much times may differ beyond what was measured: clock rates, caches, other programs.
constexpr double below = 0.85, above = 1.25, factor_of_trees = 2;

class Calibration {
 public:
  Calibration(Device& device, const Kernel& kernel, const EstimateCall& call)
      : device_(device),
        kernel_(kernel),
        prepared_(device.prepare(kernel)),
        call_(call),
        counts_{call.targets, call.sources},
        name_(name_of(device, prepared_, call)) {}

  Estimate direct() {
    const auto [measured, times] =
        grow({256, 256}, counts_, enough_direct, [&](Counts c) { return direct_run(c); });
    const auto work = [](Counts c) {
      const auto targets = static_cast<double>(c.targets), sources = static_cast<double>(c.sources);
      return targets == 0 || sources == 0 ? targets + sources : targets * sources;
    };
    return scaled(times, counts_ == measured ? 1 : work(counts_) / work(measured), below, above);
  }

  /// None if a tree is not faster than direct sums.
  std::optional<Estimate> tree() {
    const auto [measured, times] = grow({4096, 4096}, counts_, enough_tree, [&](Counts c) {
      const RunTimes found = tree_run(c);
      // Direct sums of so many particles say nothing about trees of more.
      return found.tree
                 ? found
                 : RunTimes{found.low, std::min(found.median, 0.9 * enough_tree), found.high};
    });
    if (!times.tree) return {};
    const auto work = [](Counts c) {
      return static_cast<double>(c.targets + c.sources) *
             std::log2(static_cast<double>(2 + c.sources));
    };
    return scaled(times, work(counts_) / work(measured), 1 / factor_of_trees, factor_of_trees);
  }

 private:
  static Estimate scaled(const RunTimes& times, double ratio, double below, double above) {
    const bool same = ratio == 1;
    return {.seconds = ratio * times.median,
            .low = ratio * times.low * (same ? 1 : below),
            .high = ratio * times.high * (same ? 1 : above),
            .tree = times.tree};
  }

  RunTimes direct_run(Counts c) {
    return measured_times().get({name_, c.targets, c.sources}, [&] {
      Job job = device_.job(prepared_);
      set_params(job, kernel_, call_);
      const SyntheticArrays sources(kernel_, Role::Source, c.sources);
      const SyntheticArrays targets(kernel_, Role::Target, c.targets);
      const SyntheticArrays found(kernel_, Role::Result, c.targets);
      const SyntheticArrays outputs(kernel_, Role::Output, c.sources);
      std::vector<NamedResult> results = found.results();
      results.insert(results.end(), outputs.results().begin(), outputs.results().end());
      return repeat(5 * enough_direct, [&] {
        job.sources(c.sources, sources.inputs());
        job.targets(c.targets, targets.inputs());
        job.run(results);
      });
    });
  }

  RunTimes tree_run(Counts c) {
    const std::string name = name_ + "\naccuracy " + std::to_string(-std::log2(call_.accuracy));
    return measured_times().get({name, c.targets, c.sources}, [&] {
      return kernel_.name() == "gravity" ? gravity_tree_run(c) : kernel_tree_run(c);
    });
  }

  RunTimes gravity_tree_run(Counts c) {
    Gravity gravity(device_);
    const bool same = c.targets == c.sources;
    const std::vector<double> x = plummer_positions(std::max(c.targets, c.sources));
    const std::vector<double> mass(c.sources, 1 / static_cast<double>(c.sources));
    std::vector<double> acc(3 * c.targets), pot(c.targets);
    const TreeOptions options{.accuracy = call_.accuracy};
    bool tree = false;
    RunTimes times = repeat(2 * enough_tree, [&] {
      const TreeReport report =
          same ? gravity.compute(c.sources, x.data(), mass, 0.01, acc, pot, options)
               : gravity.compute_on(c.targets, x.data(), c.sources, x.data(), mass, 0.01, acc, pot,
                                    options);
      tree = report.method != TreeMethod::Direct;
    });
    times.tree = tree;
    return times;
  }

  RunTimes kernel_tree_run(Counts c) {
    TreeSum sum(device_, kernel_, {.accuracy = call_.accuracy});
    set_params(sum, kernel_, call_);
    const SyntheticArrays sources(kernel_, Role::Source, c.sources, true);
    const SyntheticArrays targets(kernel_, Role::Target, c.targets, true);
    const SyntheticArrays found(kernel_, Role::Result, c.targets);
    const std::vector<double> x = plummer_positions(std::max(c.targets, c.sources));
    const std::span<const double> all = x;
    bool tree = false;
    RunTimes times = repeat(2 * enough_tree, [&] {
      TreeCall call{.pos = all.first(3 * c.sources),
                    .sources = sources.inputs(),
                    .targets = targets.inputs(),
                    .results = found.results()};
      if (c.targets != c.sources) call.target_pos = all.first(3 * c.targets);
      tree = sum.run(call).degree > 0;
    });
    times.tree = tree;
    return times;
  }

  Device& device_;
  const Kernel& kernel_;
  Kernel prepared_;
  const EstimateCall& call_;
  Counts counts_;
  std::string name_;
};

}  // namespace

Estimate estimate(Device& device, const Kernel& kernel, const EstimateCall& call) {
  if (!(call.accuracy >= 0 && call.accuracy < 1))
    throw Error(ErrorCategory::Usage, "accuracy: must be at least 0 and below 1");
  if (device.ranks() > 1)
    throw Error(ErrorCategory::Unsupported,
                "estimate: does not know the times of several ranks; estimate those of one, with a "
                "device of its own");
  const Stopwatch timer;
  Calibration calibration(device, kernel, call);
  Estimate found = calibration.direct();
  if (call.accuracy > 0 && call.targets > 0 && call.sources > 0) {
    const std::optional<Estimate> tree = calibration.tree();
    if (tree && tree->seconds < found.seconds) found = *tree;
  }
  found.pairs = static_cast<double>(call.targets) * static_cast<double>(call.sources);
  found.measuring = timer.seconds();
  return found;
}

}  // namespace gdr
