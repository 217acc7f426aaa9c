// Neighbour lists by a search in a tree of boxes.
#include "gdr/neighbours.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "libgdr/particle/available_memory.hpp"
#include "libgdr/particle/neighbour_tree.hpp"

namespace gdr {
namespace {

/// Number of targets of a task.
constexpr std::size_t task_targets = 256;
/// Memory for a pair during the search: its number in a growing array, and that in the result.
constexpr std::size_t bytes_a_pair = 16;
/// Pairs that a thread has found before others know of them.
constexpr std::size_t max_unreported = 10000;
/// Pairs from which the length of the other lists is projected.
constexpr std::size_t least_projected = 4'000'000;
/// Host time for a target besides its list, and for a source in the tree, nanoseconds.
constexpr double ns_a_target = 1000, ns_a_source = 100;

[[noreturn]] void wrong_length(const std::string& what, std::size_t n,
                               const std::string& expected) {
  throw Error(ErrorCategory::Usage, what + " has " + std::to_string(n) + " elements; " + expected);
}

void check_finite(const char* name, std::span<const double> x) {
  if (x.size() % 3 != 0) wrong_length(name, x.size(), "expected three coordinates for each");
  const auto bad = std::ranges::find_if(x, [](double v) { return !std::isfinite(v); });
  if (bad == x.end()) return;
  const auto k = static_cast<std::size_t>(bad - x.begin());
  throw Error(ErrorCategory::Input, std::string(name) + "[" + std::to_string(k / 3) +
                                        "], coordinate " + std::to_string(k % 3) + ", is " +
                                        std::to_string(*bad) + "; coordinates must be finite");
}

void check(std::span<const double> sources, std::span<const double> targets,
           std::span<const double> radii, const NeighbourOptions& options) {
  check_finite("sources", sources);
  check_finite("targets", targets);
  const std::size_t n = targets.size() / 3, m = sources.size() / 3;
  if (radii.size() != n && radii.size() != 1)
    wrong_length("radii", radii.size(),
                 "expected one for all, or one for each of the " + std::to_string(n) + " targets");
  for (std::size_t i = 0; i < radii.size(); ++i)
    if (!(radii[i] >= 0))
      throw Error(ErrorCategory::Input, "radii[" + std::to_string(i) + "] is " +
                                            std::to_string(radii[i]) +
                                            "; a radius must be a number >= 0");
  if (m > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorCategory::Usage,
                std::to_string(m) + " sources; at most 4294967295 are possible");
  const bool ids = !options.source_ids.empty() || !options.target_ids.empty();
  if (ids && options.source_ids.size() != m)
    wrong_length("source_ids", options.source_ids.size(),
                 "expected one for each of the " + std::to_string(m) + " sources");
  if (ids && options.target_ids.size() != n)
    wrong_length("target_ids", options.target_ids.size(),
                 "expected one for each of the " + std::to_string(n) + " targets");
  if (options.exclude_same_number && n != m)
    throw Error(ErrorCategory::Usage,
                "exclude_same_number is for equal sources and targets, but there are " +
                    std::to_string(m) + " sources and " + std::to_string(n) + " targets");
}

/// The search for the lists of all targets, in several threads.
class Search {
 public:
  Search(std::span<const double> sources, std::span<const double> targets,
         std::span<const double> radii, const NeighbourOptions& options)
      : targets_(targets),
        radii_(radii),
        options_(options),
        n_(targets.size() / 3),
        tasks_((n_ + task_targets - 1) / task_targets),
        tree_(sources) {
    const double ns = ns_a_target * static_cast<double>(n_) +
                      ns_a_source * static_cast<double>(sources.size() / 3);
    threads_ = threads_for(ns, options.threads);
  }

  /// Searches until the lists are too long: they have more than `most` pairs, or with `early` will
  /// have if the lists of the other targets are as long. Returns whether all are complete.
  bool find(std::size_t most, bool early) {
    lengths_.assign(n_ + 1, 0);
    found_.assign(tasks_, {});
    std::atomic<std::size_t> pairs{0}, searched{0};
    std::atomic<bool> too_long{false};
    in_phase([&](std::size_t task) {
      std::vector<std::uint32_t>& all = found_[task];
      std::size_t first_new = task * task_targets, reported = 0;
      for (std::size_t i = first_new; i < end_of(task); ++i) {
        if (options_.stop.stop_requested() || too_long) return;
        find_list(i, all);
        // Seldom, as threads wait for each other here.
        if (i + 1 < end_of(task) && all.size() - reported < max_unreported) continue;
        pairs += all.size() - std::exchange(reported, all.size());
        searched += i + 1 - std::exchange(first_new, i + 1);
        const double share = static_cast<double>(searched) / static_cast<double>(n_);
        if (pairs > most || (early && pairs > least_projected &&
                             static_cast<double>(pairs) > share * static_cast<double>(most)))
          too_long = true;
      }
    });
    return !too_long;
  }

  /// The number of all pairs, those that are left out for their ids among them.
  std::size_t count() {
    found_.clear();
    std::atomic<std::size_t> pairs{0};
    in_phase([&](std::size_t task) {
      for (std::size_t i = task * task_targets; i < end_of(task); ++i) {
        if (options_.stop.stop_requested()) return;
        pairs += tree_.count(target(i), radius2(i));
      }
    });
    return pairs - (options_.exclude_same_number ? std::min(n_, pairs.load()) : 0);
  }

  /// The lists that were found.
  NeighbourLists lists() {
    NeighbourLists lists;
    lists.offsets = std::move(lengths_);
    std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
    lists.indices.resize(static_cast<std::size_t>(lists.offsets.back()));
    in_phase([&](std::size_t task) {
      if (options_.stop.stop_requested()) return;
      std::ranges::copy(found_[task], lists.indices.begin() + lists.offsets[task * task_targets]);
      found_[task] = {};
    });
    return lists;
  }

 private:
  Point target(std::size_t i) const noexcept {
    return {targets_[3 * i], targets_[3 * i + 1], targets_[3 * i + 2]};
  }
  double radius2(std::size_t i) const noexcept {
    const double r = radii_[radii_.size() == 1 ? 0 : i];
    return r * r;
  }
  std::size_t end_of(std::size_t task) const noexcept {
    return std::min(n_, (task + 1) * task_targets);
  }

  /// Adds the list of a target.
  void find_list(std::size_t i, std::vector<std::uint32_t>& all) {
    const std::size_t first = all.size();
    tree_.find(target(i), radius2(i), all);
    leave_out(i, all, first);
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
    lengths_[i + 1] = static_cast<std::int64_t>(all.size() - first);
  }

  void leave_out(std::size_t i, std::vector<std::uint32_t>& all, std::size_t first) const {
    const auto mine = all.begin() + static_cast<std::ptrdiff_t>(first);
    if (options_.exclude_same_number)
      all.erase(std::remove(mine, all.end(), static_cast<std::uint32_t>(i)), all.end());
    if (!options_.target_ids.empty())
      all.erase(std::remove_if(mine, all.end(),
                               [&](std::uint32_t j) {
                                 return options_.source_ids[j] == options_.target_ids[i];
                               }),
                all.end());
  }

  void in_phase(const std::function<void(std::size_t)>& work) const {
    const Phase phase{tasks_, work};
    run_phases({&phase, 1}, threads_);
    if (options_.stop.stop_requested())
      throw Error(ErrorCategory::Device, "the search for neighbours was stopped");
  }

  std::span<const double> targets_, radii_;
  const NeighbourOptions& options_;
  std::size_t n_, tasks_;
  NeighbourTree tree_;
  unsigned threads_ = 1;
  std::vector<std::int64_t> lengths_;              ///< lengths of the lists, behind a 0
  std::vector<std::vector<std::uint32_t>> found_;  ///< the lists of each task's targets
};

[[noreturn]] void too_long(std::size_t targets, double pairs, std::size_t memory) {
  throw Error(
      ErrorCategory::Input,
      fmt::format("the neighbour lists of {} targets would have {:.3g} pairs, about {:.0f} for "
                  "each, and take {:.3g} GB of memory, of which {:.3g} GB are available; use "
                  "smaller radii, or search for fewer targets at a time",
                  targets, pairs, pairs / static_cast<double>(targets), 1e-9 * bytes_a_pair * pairs,
                  1e-9 * static_cast<double>(memory)));
}

}  // namespace

NeighbourLists find_neighbours(std::span<const double> sources, std::span<const double> targets,
                               std::span<const double> radii, const NeighbourOptions& options) {
  const HostFloatMode mode;
  check(sources, targets, radii, options);
  Search search(sources, targets, radii, options);
  const std::size_t memory = available_memory(), most = memory / bytes_a_pair;
  if (!search.find(most, true)) {
    // To count long lists is much faster than to find them.
    const std::size_t pairs = search.count();
    const bool ids = !options.target_ids.empty();
    if ((pairs > most && !ids) || !search.find(most, false))
      too_long(targets.size() / 3, static_cast<double>(pairs), memory);
  }
  return search.lists();
}

}  // namespace gdr
