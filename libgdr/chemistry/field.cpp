#include "libgdr/chemistry/field.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numbers>
#include <numeric>
#include <set>
#include <string>

#include "gdr/error.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/chemistry/kernel_text.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr::chemistry {
namespace {

/// Bound on the error of an interaction in shorts, relative to the Cauchy-Schwarz bound of the
/// interaction: 512 roundings of a short. tests/chemistry/kernels_test.cpp tests it.
constexpr double short_error = 0x1p-16;

/// Number of jobs that cost as much as the compilation of a kernel that is used for some
/// iterations.
constexpr std::size_t calls_per_kernel = 100;

/// A kernel, compiled once in a process. Its loop is not pipelined: the fast engines do not need
/// it, and a search for each of about thirty kernels would take longer than most calculations.
const Kernel& kernel_of(const KernelKey& key) {
  static std::mutex mutex;
  static std::map<KernelKey, Kernel> made;
  const std::lock_guard lock(mutex);
  if (const auto found = made.find(key); found != made.end()) return found->second;
  CompileOptions options;
  options.pipeline = false;
  CompileResult result = compile_kernel(
      coulomb_kernel(key.li, key.lj, key.first, key.last, key.accuracy), "coulomb", options);
  if (!result.ok()) throw Error(ErrorCategory::Internal, result.diagnostics.render());
  return made.emplace(key, Kernel(std::move(*result.program))).first->second;
}

/// Columns of arrays of records, as the named arrays of a job; owns the names.
class Columns {
 public:
  void add(const std::string& name, const double* first, std::size_t doubles) {
    names_.push_back(name);
    arrays_.emplace_back(first, static_cast<std::ptrdiff_t>(doubles * sizeof(double)));
  }
  std::vector<NamedInput> inputs() const {
    std::vector<NamedInput> made;
    for (std::size_t k = 0; k < names_.size(); ++k) made.push_back({names_[k], arrays_[k]});
    return made;
  }

 private:
  std::vector<std::string> names_;
  std::vector<ConstArray> arrays_;
};

/// For each target the number of sources whose interactions may not be left to another treatment,
/// which is allowed for sources whose magnitudes add up to at most `limit` over the target's bound.
std::vector<std::size_t> required(const SourceList& sources, const TargetList& targets,
                                  double limit) {
  std::vector<std::size_t> counts(targets.size(), sources.size());
  if (sources.magnitude.empty() || targets.bound.empty()) return counts;
  double tail = 0;
  std::size_t count = sources.size();
  for (std::size_t i = 0; i < targets.size(); ++i) {  // bounds descend: fewer and fewer sources
    while (count > 0 && (tail + sources.magnitude[count - 1]) * targets.bound[i] <= limit)
      tail += sources.magnitude[--count];
    counts[i] = count;
  }
  return counts;
}

/// Places at which the sources are divided, such that computing each part for all targets that need
/// its first source wastes little. `counts`: number of sources that a target needs, descending.
void add_divisions(std::span<const std::size_t> counts, std::size_t call_cost,
                   std::set<std::size_t>& divisions) {
  std::size_t first = 0, targets = counts.size();
  for (;;) {
    while (targets > 0 && counts[targets - 1] <= first) --targets;
    divisions.insert(first);
    if (targets == 0) return;
    // The last source for which the superfluous interactions are worth less than another call.
    std::size_t last = counts[targets - 1], missing = targets, waste = 0;
    for (;;) {
      while (missing > 0 && counts[missing - 1] <= last) --missing;
      if (missing == 0) break;
      const std::size_t next = counts[missing - 1];
      waste += (targets - missing) * (next - last);
      if (waste > call_cost + targets * (next - first) / 16) break;
      last = next;
    }
    first = last;
  }
}

/// Number of targets that need a source; `counts` descends.
std::size_t targets_of(std::span<const std::size_t> counts, std::size_t source) {
  const auto end = std::ranges::partition_point(counts, [&](std::size_t c) { return c > source; });
  return static_cast<std::size_t>(end - counts.begin());
}

/// Sum of a list of numbers.
std::size_t total(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

/// The factors of a source's Hermite coefficients in the kernel: signs of the derivatives to its
/// centre, and 2 pi^(5/2)/q.
std::vector<double> kernel_charges(unsigned l, const SourceList& sources) {
  const std::size_t each = hermite_count(l);
  const std::vector<Order>& orders = hermite_orders();
  std::vector<double> scaled(sources.charge.size());
  for (std::size_t j = 0; j < sources.size(); ++j) {
    const double factor =
        2 * std::numbers::pi * std::numbers::pi / std::numbers::inv_sqrtpi / sources.exponent[j];
    for (std::size_t n = 0; n < each; ++n) {
      const bool odd = (orders[n][0] + orders[n][1] + orders[n][2]) % 2 == 1;
      scaled[j * each + n] = (odd ? -factor : factor) * sources.charge[j * each + n];
    }
  }
  return scaled;
}

}  // namespace

void Field::evaluate(const SourceLists& sources, TargetLists& targets, double error) {
  interactions_ = short_interactions_ = 0;
  for (unsigned li = 0; li <= max_pair; ++li) {
    targets[li].potential.assign(targets[li].size() * hermite_count(li), 0.0);
    for (unsigned lj = 0; lj <= max_pair; ++lj)
      evaluate_class(li, lj, sources[lj], targets[li], error / (max_pair + 1));
  }
}

void Field::evaluate_class(unsigned li, unsigned lj, const SourceList& sources, TargetList& targets,
                           double error) {
  if (sources.size() == 0 || targets.size() == 0) return;
  const std::vector<std::size_t> all = required(sources, targets, error / 2);
  std::vector<std::size_t> in_longs = required(sources, targets, error / 2 / short_error);
  // Fewer interactions in shorts save less time than it takes to compile another kernel.
  if (total(all) - total(in_longs) <= calls_per_kernel * call_cost_) in_longs = all;
  std::set<std::size_t> divisions;
  add_divisions(all, call_cost_, divisions);
  add_divisions(in_longs, call_cost_, divisions);
  std::vector<Rectangle> longs, shorts;
  for (auto at = divisions.begin(); std::next(at) != divisions.end(); ++at) {
    const std::size_t first = *at, last = *std::next(at);
    const std::size_t some = targets_of(in_longs, first), both = targets_of(all, first);
    if (some > 0) longs.push_back({first, last, 0, some});
    if (both > some) shorts.push_back({first, last, some, both});
  }
  const std::vector<double> charges = kernel_charges(lj, sources);
  const std::size_t own = hermite_count(li);
  for (std::size_t first = 0; first < own; first += max_results) {
    const std::size_t last = std::min(own, first + max_results);
    run({li, lj, first, last, Accuracy::Long}, sources, charges, targets, longs);
    run({li, lj, first, last, Accuracy::Short}, sources, charges, targets, shorts);
  }
  for (const Rectangle& block : longs) interactions_ += block.area();
  for (const Rectangle& block : shorts) {
    interactions_ += block.area();
    short_interactions_ += block.area();
  }
}

Field::KeptJob& Field::job_of(const KernelKey& key) {
  const auto found = jobs_.find(key);
  if (found != jobs_.end()) return found->second;
  return jobs_.emplace(key, KeptJob{device_->job(kernel_of(key))}).first->second;
}

void Field::run(const KernelKey& key, const SourceList& sources, std::span<const double> charges,
                TargetList& targets, std::span<const Rectangle> blocks) {
  if (blocks.empty()) return;
  KeptJob& kept = job_of(key);
  Job& job = kept.job;
  RankGroup* const ranks = DeviceRanks::group(*device_);
  const auto part = [&](std::size_t all, unsigned offset) {
    return ranks == nullptr ? all * offset : part_begin(all, ranks->rank() + offset, ranks->size());
  };
  const std::size_t own = hermite_count(key.li), each = hermite_count(key.lj);
  const std::size_t width = key.last - key.first;
  std::vector<double> results;
  for (const Rectangle& block : blocks) {
    const std::size_t n = block.last_source - block.first_source;
    const std::size_t m = block.last_target - block.first_target;
    const std::size_t j = block.first_source + part(n, 0), t = part(m, 0);
    const std::size_t i = block.first_target + t;
    Columns given, places;
    for (std::size_t k = 0; k < 3; ++k) {
      given.add(std::string(1, "xyz"[k]) + "s", sources.centre[0].data() + 3 * j + k, 3);
      places.add(std::string(1, "xyz"[k]), targets.centre[0].data() + 3 * i + k, 3);
    }
    given.add("q", sources.exponent.data() + j, 1);
    places.add("p", targets.exponent.data() + i, 1);
    given.add("d", charges.data() + j * each, 1);
    job.sources(part(n, 1) - part(n, 0), given.inputs());
    const std::size_t own_targets = part(m, 1) - t;
    if (kept.targets != &targets || kept.first != i || kept.count != own_targets) {
      kept.targets = nullptr;
      job.targets(own_targets, places.inputs());
      if (targets.kept) kept.targets = &targets;
      kept.first = i;
      kept.count = own_targets;
    }
    results.assign(m * width, 0.0);
    job.run({{"v[]", {results.data() + t * width, sizeof(double)}}});
    if (ranks != nullptr) gather_parts(*ranks, results.data(), m, width);
    for (std::size_t k = 0; k < m; ++k) {
      const std::size_t target = block.first_target + k;
      for (std::size_t h = 0; h < width; ++h)
        targets.potential[target * own + key.first + h] +=
            results[k * width + h] / targets.exponent[target];
    }
  }
}

}  // namespace gdr::chemistry
