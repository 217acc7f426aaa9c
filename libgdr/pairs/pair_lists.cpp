#include "libgdr/pairs/pair_lists.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "emulator/host/for_blocks.hpp"
#include "gdr/error.hpp"
#include "libgdr/particle/available_memory.hpp"
#include "libgdr/particle/box_tree.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr {
namespace {

/// Targets with a common list: more have longer lists, fewer pay more for each list.
constexpr std::size_t group_targets = 48;
/// Sources of a leaf, which are tested one by one.
constexpr std::size_t leaf_sources = 32;
/// Sources in a row from which on they are listed as one range.
constexpr std::size_t least_range = 256;
/// Memory of a single source in a list.
constexpr double bytes_an_entry = 4;
/// Distances of boxes are computed with rounding.
constexpr double box_rounding = 1e-12;
/// Host time of a source in a list, nanoseconds, and groups of a task.
constexpr double ns_a_listed = 4;
constexpr std::size_t groups_of_task = 4;
/// Squares of larger distances are not normal numbers.
constexpr double most_diagonal2 = 1e300;

/// Sources in the order of the leaves of their tree.
struct SortedSources {
  std::vector<TreeBox> tree;
  std::array<std::vector<double>, 3> at;
};

/// Finds the sources of groups; one for each thread.
class GroupSearch {
 public:
  explicit GroupSearch(const SortedSources& sources) : sources_(sources) {}

  /// Finds the sources nearer than the radius to a target of the box, and a few others.
  void find(const Bounds& targets, double radius2, TargetGroup& group) {
    found_ = 0;
    if (!sources_.tree.empty()) visit(sources_.tree[0], targets, radius2, group);
    const auto* const first = reinterpret_cast<const std::int32_t*>(near_.data());
    group.single.assign(first, first + found_);
  }

 private:
  void visit(const TreeBox& node, const Bounds& targets, double radius2, TargetGroup& group) {
    if (!(node.bounds.least_distance2(targets) < radius2)) return;
    if (node.bounds.largest_distance2(targets) < radius2) return add_whole(node, group);
    for (std::uint32_t k = 0; k < node.parts; ++k)
      visit(sources_.tree[node.children + k], targets, radius2, group);
    if (!node.is_leaf()) return;
    make_room(node.count);
    found_ += choose_near({sources_.at[0].data(), sources_.at[1].data(), sources_.at[2].data()},
                          node.first, node.count, targets.low, targets.high, radius2,
                          near_.data() + found_);
  }

  void add_whole(const TreeBox& node, TargetGroup& group) {
    if (node.count >= least_range) {
      std::vector<ListedRange>& whole = group.whole;
      if (!whole.empty() && whole.back().first + whole.back().count == node.first)
        whole.back().count += node.count;
      else
        whole.push_back({node.first, node.count});
      return;
    }
    make_room(node.count);
    for (std::uint32_t k = 0; k < node.count; ++k) near_[found_++] = node.first + k;
  }

  void make_room(std::size_t more) {
    if (near_.size() < found_ + more) near_.resize(2 * (found_ + more));
  }

  const SortedSources& sources_;
  std::vector<std::uint32_t> near_;
  std::size_t found_ = 0;
};

[[noreturn]] void lists_too_long(std::size_t targets, double entries, double memory) {
  throw Error(ErrorCategory::Input,
              fmt::format("the pair lists of {} targets have more than {:.3g} sources and would "
                          "take more than {:.3g} GB of memory; use a smaller cut-off or fewer "
                          "targets at a time",
                          targets, entries, 1e-9 * memory));
}

/// The largest radius of the targets of a group, with the skin.
double reach_of(const ListInput& input, const TargetGroup& group,
                const std::vector<NumberedPoint>& targets) {
  double radius = input.radii[0];
  if (input.radii.size() > 1) {
    radius = 0;
    for (std::size_t k = 0; k < group.count; ++k)
      radius = std::max(radius, input.radii[targets[group.first + k].number]);
  }
  return (radius + input.skin) * (1 + box_rounding);
}

/// Makes the lists of all groups.
void find_all(const ListInput& input, const std::vector<TreeBox>& leaves,
              const std::vector<NumberedPoint>& targets, const SortedSources& sources,
              double memory, PairLists& lists) {
  lists.groups.resize(leaves.size());
  std::atomic<double> entries{0};
  const double ns = ns_a_listed * 10 * static_cast<double>(targets.size());
  const unsigned threads = threads_for(ns, input.threads);
  for_blocks(leaves.size(), groups_of_task, threads, [&](std::size_t first, std::size_t end) {
    GroupSearch search(sources);
    for (std::size_t k = first; k < end; ++k) {
      TargetGroup& group = lists.groups[k];
      group.first = leaves[k].first;
      group.count = leaves[k].count;
      const double reach = reach_of(input, group, targets);
      search.find(leaves[k].bounds, reach * reach, group);
      const auto more = static_cast<double>(group.single.size());
      const double all = entries.fetch_add(more) + more;
      if (all * bytes_an_entry > memory) lists_too_long(targets.size(), all, memory);
    }
  });
}

ListCounts counts_of(const PairLists& lists, const std::vector<TreeBox>& groups, double skin) {
  ListCounts counts;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const TargetGroup& group = lists.groups[k];
    auto sources = static_cast<double>(group.single.size());
    for (const ListedRange& r : group.whole) sources += static_cast<double>(r.count);
    counts.sources += sources;
    counts.pairs += sources * static_cast<double>(group.count);
    for (std::size_t c = 0; c < 3; ++c)
      counts.edge += groups[k].bounds.high[c] - groups[k].bounds.low[c];
  }
  counts.edge /= 3 * static_cast<double>(groups.size());
  counts.particles = static_cast<double>(lists.targets.size() + lists.sources.size());
  counts.skin = skin;
  return counts;
}

/// At least the square of the distance of a target and a source, also after both have moved by half
/// of the skin.
double square_of_diagonal(const Bounds& targets, const Bounds& sources, double skin) {
  const double length = std::sqrt(targets.largest_distance2(sources));
  const double diagonal2 = (length + skin) * (length + skin) * (1 + box_rounding);
  if (!(diagonal2 < most_diagonal2))
    throw Error(ErrorCategory::Input,
                "the positions are too far from each other: squares of distances exceed 1e300");
  return diagonal2;
}

/// Sorts targets into groups: the leaves of their tree.
std::vector<TreeBox> sort_targets(InBox& targets, const Bounds& box, unsigned threads,
                                  std::vector<PlacedParticle>& placed) {
  std::vector<TreeBox> nodes = sort_into_boxes(targets.points, box, group_targets, threads);
  std::erase_if(nodes, [](const TreeBox& node) { return !node.is_leaf(); });
  std::ranges::sort(nodes, {}, &TreeBox::first);
  placed.resize(targets.points.size());
  for_particles(placed.size(), threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) {
      const std::uint32_t number = targets.points[k].number;
      placed[k] = {number, targets.shifts[number], true};
    }
  });
  return nodes;
}

SortedSources sort_sources(PlacedImages& images, const Bounds& box, unsigned threads,
                           std::vector<PlacedParticle>& placed) {
  SortedSources sources;
  sources.tree = sort_into_boxes(images.points, box, leaf_sources, threads);
  const std::size_t n = images.points.size();
  for (std::vector<double>& x : sources.at) x.resize(n);
  placed.resize(n);
  for_particles(n, threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) {
      const NumberedPoint& point = images.points[k];
      for (std::size_t c = 0; c < 3; ++c) sources.at[c][k] = point.x[c];
      placed[k] = images.placed[point.number];
    }
  });
  return sources;
}

}  // namespace

PairLists make_pair_lists(const ListInput& input) {
  PairLists lists;
  const unsigned threads = input.threads;
  const double memory = 0.5 * static_cast<double>(available_memory());
  const bool same = input.targets.data() == input.sources.data();
  InBox targets(input.targets, input.lattice, same ? "pos" : "targets", threads);
  if (targets.points.empty()) return lists;
  const double reach = *std::ranges::max_element(input.radii) + input.skin;
  const auto see = [&](const InBox& from) {
    return images_seen(from, input.sources, input.lattice, {targets.points, reach}, memory,
                       threads);
  };
  PlacedImages images =
      same ? see(targets) : see(InBox(input.sources, input.lattice, "pos", threads));
  const Bounds around = bounds_of(targets.points, threads);
  const Bounds seen = bounds_of(images.points, threads);
  if (!images.points.empty()) lists.diagonal2 = square_of_diagonal(around, seen, input.skin);
  const std::vector<TreeBox> groups = sort_targets(targets, around, threads, lists.targets);
  const SortedSources sources = sort_sources(images, seen, threads, lists.sources);
  find_all(input, groups, targets.points, sources, memory, lists);
  lists.counts = counts_of(lists, groups, input.skin);
  return lists;
}

}  // namespace gdr
