// Neighbour lists by a binary tree of boxes. A node is split at the median of its longest axis, so
// that any distribution gives a balanced tree; sources are stored in the order of the leaves, where
// a vectorised loop computes their distances.
#include "gdr/neighbours.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr {
namespace {

using Point = std::array<double, 3>;

/// Largest number of sources of a leaf, and of targets of a task.
constexpr std::size_t leaf_sources = 64, task_targets = 256;
/// Host time for a target besides its list, and for a source in the tree, nanoseconds.
constexpr double ns_a_target = 1000, ns_a_source = 100;

class Tree {
 public:
  explicit Tree(std::span<const double> sources) : number_(sources.size() / 3) {
    std::iota(number_.begin(), number_.end(), std::uint32_t{0});
    if (number_.empty()) return;
    build(sources, 0, number_.size());
    for (std::size_t c = 0; c < 3; ++c) {
      at_[c].resize(number_.size());
      for (std::size_t k = 0; k < number_.size(); ++k) at_[c][k] = sources[3 * number_[k] + c];
    }
  }

  /// Adds the numbers of the sources within the radius, in any order.
  void find(const Point& x, double radius2, std::vector<std::uint32_t>& found) const {
    if (nodes_.empty()) return;
    // Each level leaves at most one node behind.
    std::array<std::uint32_t, std::numeric_limits<std::size_t>::digits> stack;
    std::size_t waiting = 0;
    stack[waiting++] = 0;
    while (waiting > 0) {
      const Node& node = nodes_[stack[--waiting]];
      if (!(node.least_distance2(x) < radius2)) continue;
      if (node.right == 0) {
        const std::size_t before = found.size();
        find_within(
            {at_[0].data() + node.first, at_[1].data() + node.first, at_[2].data() + node.first},
            node.count, x, 0, radius2, found);
        for (std::size_t k = before; k < found.size(); ++k)
          found[k] = number_[node.first + found[k]];
        continue;
      }
      stack[waiting++] = node.right;
      stack[waiting++] = static_cast<std::uint32_t>(&node - nodes_.data()) + 1;  // the left one
    }
  }

 private:
  struct Node {
    Point low, high;
    std::size_t first, count;
    std::uint32_t right = 0;  ///< 0: a leaf

    /// At most the square of the distance to a source of the node: rounding keeps the order of
    /// differences, squares and sums.
    double least_distance2(const Point& x) const noexcept {
      Point d;
      for (std::size_t c = 0; c < 3; ++c) d[c] = std::max({low[c] - x[c], x[c] - high[c], 0.0});
      return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
  };

  void build(std::span<const double> sources, std::size_t first, std::size_t count) {
    const auto begin = number_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::span<std::uint32_t> mine{&*begin, count};
    Node node{{}, {}, first, count, 0};
    std::size_t longest = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      node.low[c] = node.high[c] = sources[3 * std::size_t{mine[0]} + c];
      for (const std::uint32_t j : mine) {
        const double x = sources[3 * std::size_t{j} + c];
        node.low[c] = std::min(node.low[c], x);
        node.high[c] = std::max(node.high[c], x);
      }
      // Halves, as the difference of the largest numbers overflows.
      const auto length = [&](std::size_t axis) {
        return node.high[axis] / 2 - node.low[axis] / 2;
      };
      if (length(c) > length(longest)) longest = c;
    }
    const std::size_t at = nodes_.size();
    nodes_.push_back(node);
    if (count <= leaf_sources) return;
    const std::size_t half = count / 2;
    std::ranges::nth_element(
        mine, mine.begin() + static_cast<std::ptrdiff_t>(half), {},
        [&](std::uint32_t j) { return sources[3 * std::size_t{j} + longest]; });
    build(sources, first, half);
    nodes_[at].right = static_cast<std::uint32_t>(nodes_.size());
    build(sources, first + half, count - half);
  }

  std::vector<Node> nodes_;                ///< a node, its left part, its right part
  std::vector<std::uint32_t> number_;      ///< of the sources, in the order of the leaves
  std::array<std::vector<double>, 3> at_;  ///< their coordinates
};

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

}  // namespace

NeighbourLists find_neighbours(std::span<const double> sources, std::span<const double> targets,
                               std::span<const double> radii, const NeighbourOptions& options) {
  check(sources, targets, radii, options);
  const std::size_t n = targets.size() / 3;
  const Tree tree(sources);
  NeighbourLists lists;
  lists.offsets.assign(n + 1, 0);

  const std::size_t tasks = (n + task_targets - 1) / task_targets;
  std::vector<std::vector<std::uint32_t>> found(tasks);  // the lists of a task's targets
  const auto leave_out = [&](std::size_t i, std::vector<std::uint32_t>& all, std::size_t first) {
    const auto mine = all.begin() + static_cast<std::ptrdiff_t>(first);
    if (options.exclude_same_number)
      all.erase(std::remove(mine, all.end(), static_cast<std::uint32_t>(i)), all.end());
    if (!options.target_ids.empty())
      all.erase(std::remove_if(mine, all.end(),
                               [&](std::uint32_t j) {
                                 return options.source_ids[j] == options.target_ids[i];
                               }),
                all.end());
  };
  const auto throw_if_stopped = [&] {
    if (options.stop.stop_requested())
      throw Error(ErrorCategory::Device, "the search for neighbours was stopped");
  };
  const auto search = [&](std::size_t task) {
    std::vector<std::uint32_t>& all = found[task];
    for (std::size_t i = task * task_targets; i < std::min(n, (task + 1) * task_targets); ++i) {
      if (options.stop.stop_requested()) return;  // threads of a phase throw nothing
      const std::size_t first = all.size();
      const double r = radii[radii.size() == 1 ? 0 : i];
      tree.find({targets[3 * i], targets[3 * i + 1], targets[3 * i + 2]}, r * r, all);
      leave_out(i, all, first);
      std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
      lists.offsets[i + 1] = static_cast<std::int64_t>(all.size() - first);
    }
  };
  const double ns =
      ns_a_target * static_cast<double>(n) + ns_a_source * static_cast<double>(sources.size() / 3);
  const unsigned threads = threads_for(ns, options.threads);
  const Phase searches{tasks, search};
  run_phases({&searches, 1}, threads);
  throw_if_stopped();

  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  lists.indices.resize(static_cast<std::size_t>(lists.offsets.back()));
  const Phase copies{tasks, [&](std::size_t task) {
                       if (options.stop.stop_requested()) return;
                       std::ranges::copy(
                           found[task], lists.indices.begin() + lists.offsets[task * task_targets]);
                       found[task] = {};
                     }};
  run_phases({&copies, 1}, threads);
  throw_if_stopped();
  return lists;
}

}  // namespace gdr
