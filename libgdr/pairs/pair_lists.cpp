#include "libgdr/pairs/pair_lists.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <utility>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/for_blocks.hpp"
#include "gdr/error.hpp"
#include "libgdr/particle/available_memory.hpp"
#include "libgdr/particle/box_tree.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr {
namespace {

/// Targets with a common list: more have longer lists, fewer pay more for each list.
constexpr std::size_t group_targets = 48;
/// Where an engine leaves out the sources that are far from a row of a group, a longer list costs
/// little: as many as are packed together, in small systems fewer, for threads.
constexpr std::size_t max_group_targets = 128, groups_of_system = 64;
/// Targets of a row: the vectors of an engine have 4 lanes or 8, and one or two of them share
/// sources.
constexpr std::size_t row_targets = 16, min_row_targets = 4;
/// Sources of a leaf, which are tested one by one.
constexpr std::size_t leaf_sources = 32;
/// Sources in a row from which on they are listed as one range.
constexpr std::size_t min_range = 256;
/// Memory of a single source in a list.
constexpr double bytes_an_entry = 4;
/// Distances of boxes are computed with rounding.
constexpr double box_rounding = 1e-12;
/// Host time of a source in a list, nanoseconds, and groups of a task.
constexpr double ns_a_listed = 4;
constexpr std::size_t groups_of_task = 4;
/// Squares of larger distances are not normal numbers.
constexpr double max_diagonal2 = 1e300;

/// The least and the largest radius of some particles.
struct RadiusRange {
  double least = 0, largest = 0;
};

/// Points in the order of the leaves of their trees.
struct BoxForest {
  std::vector<TreeBox> nodes;
  std::vector<std::uint32_t> roots;
};

/// Sources in the order of the leaves of their trees.
struct SortedSources {
  BoxForest trees;
  std::array<std::vector<double>, 3> at;
  std::vector<double> radii;  ///< radius of each; empty: 0
  std::vector<RadiusRange> radii_of_nodes;
};

/// The square of the distance within which two radii meet, and a little more.
double meeting_distance2(double a, double b) noexcept {
  const double sum = (a + b) * (1 + box_rounding);
  return sum * sum;
}

/// Finds the sources of groups; one for each thread.
class GroupSearch {
 public:
  explicit GroupSearch(const SortedSources& sources) : sources_(sources) {}

  /// Finds the sources nearer than the radius, and their own, to a target of the box, and a few
  /// others.
  void find(const Bounds& targets, double radius, TargetGroup& group) {
    found_ = 0;
    for (const std::uint32_t root : sources_.trees.roots) visit(root, targets, radius, group);
    const auto* const first = reinterpret_cast<const std::int32_t*>(near_.data());
    group.single.assign(first, first + found_);
  }

 private:
  void visit(std::size_t number, const Bounds& targets, double radius, TargetGroup& group) {
    const TreeBox& node = sources_.trees.nodes[number];
    const RadiusRange& own = sources_.radii_of_nodes[number];
    const double far2 = meeting_distance2(radius, own.largest);
    if (!(node.bounds.min_distance2(targets) < far2)) return;
    if (node.bounds.largest_distance2(targets) < meeting_distance2(radius, own.least))
      return add_whole(node, group);
    for (std::uint32_t k = 0; k < node.parts; ++k) visit(node.children + k, targets, radius, group);
    if (!node.is_leaf()) return;
    make_room(node.count);
    const std::size_t before = found_;
    found_ +=
        choose_near({sources_.at[0].data(), sources_.at[1].data(), sources_.at[2].data()},
                    node.first, node.count, targets.low, targets.high, far2, near_.data() + found_);
    if (own.least < own.largest) keep_meeting(before, targets, radius);
  }

  /// Of the sources found since, keeps those whose own radius suffices.
  void keep_meeting(std::size_t before, const Bounds& targets, double radius) {
    std::size_t kept = before;
    for (std::size_t k = before; k < found_; ++k) {
      const std::uint32_t j = near_[k];
      const Point at{sources_.at[0][j], sources_.at[1][j], sources_.at[2][j]};
      if (Bounds{at, at}.min_distance2(targets) < meeting_distance2(radius, sources_.radii[j]))
        near_[kept++] = j;
    }
    found_ = kept;
  }

  void add_whole(const TreeBox& node, TargetGroup& group) {
    if (node.count >= min_range) {
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
double reach_of(const ListInput& input, const TreeBox& group,
                const std::vector<NumberedPoint>& targets) {
  double radius = input.radii[0];
  if (input.radii.size() > 1) {
    radius = 0;
    for (std::size_t k = 0; k < group.count; ++k)
      radius = std::max(radius, input.radii[targets[group.first + k].number]);
  }
  return radius + input.skin;
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
      const double reach = reach_of(input, leaves[k], targets);
      search.find(leaves[k].bounds, reach, group);
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
  if (!(diagonal2 < max_diagonal2))
    throw Error(ErrorCategory::Input,
                "the positions are too far from each other, or the cut-offs too large: squares of "
                "distances exceed 1e300");
  return diagonal2;
}

/// Sorts points into one tree.
BoxForest one_tree(std::vector<NumberedPoint>& points, const Bounds& box, std::size_t leaf,
                   unsigned threads) {
  BoxForest forest{sort_into_boxes(points, box, leaf, threads), {}};
  if (!forest.nodes.empty()) forest.roots.push_back(0);
  return forest;
}

/// Sorts points into a tree for each octave of radii, which begins at a power of two.
template <typename RadiusOf>
BoxForest tree_for_each_octave(std::vector<NumberedPoint>& points, const RadiusOf& radius_of,
                               std::size_t leaf, unsigned threads) {
  std::map<int, std::vector<NumberedPoint>> octaves;
  for (const NumberedPoint& p : points) octaves[std::ilogb(radius_of(p))].push_back(p);
  BoxForest forest;
  std::uint32_t first = 0;
  for (auto& [octave, some] : octaves) {
    const auto root = static_cast<std::uint32_t>(forest.nodes.size());
    forest.roots.push_back(root);
    for (TreeBox node : sort_into_boxes(some, bounds_of(some, threads), leaf, threads)) {
      node.first += first;
      node.children += root;
      forest.nodes.push_back(node);
    }
    std::ranges::copy(some, points.begin() + first);
    first += static_cast<std::uint32_t>(some.size());
  }
  return forest;
}

/// Orders the points of a group so that those of each row are neighbours, and within rows those of
/// each half.
void order_in_rows(std::span<NumberedPoint> points) {
  if (points.size() <= min_row_targets) return;
  Bounds box{points[0].x, points[0].x};
  for (const NumberedPoint& p : points) box.include(p.x);
  std::size_t axis = 0;
  for (std::size_t c = 1; c < 3; ++c)
    if (box.high[c] - box.low[c] > box.high[axis] - box.low[axis]) axis = c;
  std::size_t row = row_targets;
  while (row >= points.size()) row /= 2;
  const std::size_t half = (divide_up(points.size(), row) / 2) * row;
  std::ranges::nth_element(
      points, points.begin() + static_cast<std::ptrdiff_t>(half), {},
      [axis](const NumberedPoint& p) { return std::pair(p.x[axis], p.number); });
  order_in_rows(points.first(half));
  order_in_rows(points.subspan(half));
}

/// The leaves in the order of their points.
std::vector<TreeBox> leaves_of(BoxForest forest) {
  std::vector<TreeBox>& nodes = forest.nodes;
  std::erase_if(nodes, [](const TreeBox& node) { return !node.is_leaf(); });
  std::ranges::sort(nodes, {}, &TreeBox::first);
  return std::move(nodes);
}

/// The most targets of a group.
std::size_t targets_of_group(const ListInput& input, std::size_t targets) {
  if (!input.rows_select) return group_targets;
  const std::size_t some = divide_up(targets, groups_of_system * row_targets) * row_targets;
  return std::clamp(some, group_targets, max_group_targets);
}

/// Groups of targets, and whether they are apart by their radii.
struct TargetGroups {
  std::vector<TreeBox> leaves;
  bool apart = false;
};

/// An estimate of the pairs of groups with sources that are spread over a box, and of what each
/// group takes, in pairs.
double cost_of(const ListInput& input, const std::vector<TreeBox>& groups,
               const std::vector<NumberedPoint>& targets, const Bounds& sources) {
  constexpr double pairs_of_group = 20'000;
  double cost = 0;
  for (const TreeBox& group : groups) {
    const double reach = reach_of(input, group, targets);
    double part = static_cast<double>(input.sources.size() / 3);
    for (std::size_t c = 0; c < 3; ++c) {
      const double edge = group.bounds.high[c] - group.bounds.low[c] + 2 * reach;
      const double all = sources.high[c] - sources.low[c];
      if (edge < all) part *= edge / all;
    }
    cost += static_cast<double>(group.count) * part + pairs_of_group;
  }
  return cost;
}

/// Sorts targets into groups, the leaves of a tree, or of one for each octave of radii if that
/// makes fewer pairs: the largest radius of a group is that of its list.
TargetGroups sort_targets(const ListInput& input, InBox& targets, const Bounds& box,
                          std::vector<PlacedParticle>& placed) {
  const unsigned threads = input.threads;
  TargetGroups groups;
  const auto [least, largest] = std::ranges::minmax(input.radii);
  std::vector<NumberedPoint> apart;
  if (largest > 2 * least) apart = targets.points;
  const std::size_t leaf = targets_of_group(input, targets.points.size());
  groups.leaves = leaves_of(one_tree(targets.points, box, leaf, threads));
  if (!apart.empty()) {
    const auto radius_of = [&](const NumberedPoint& p) { return input.radii[p.number]; };
    std::vector<TreeBox> leaves = leaves_of(tree_for_each_octave(apart, radius_of, leaf, threads));
    if (cost_of(input, leaves, apart, box) < cost_of(input, groups.leaves, targets.points, box)) {
      groups = {std::move(leaves), true};
      targets.points = std::move(apart);
    }
  }
  for_blocks(
      groups.leaves.size(), groups_of_task, threads, [&](std::size_t first, std::size_t end) {
        for (std::size_t k = first; k < end; ++k)
          order_in_rows(
              std::span(targets.points).subspan(groups.leaves[k].first, groups.leaves[k].count));
      });
  placed.resize(targets.points.size());
  for_particles(placed.size(), threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) {
      const std::uint32_t number = targets.points[k].number;
      placed[k] = {number, targets.shifts[number], true};
    }
  });
  return groups;
}

/// The radii of the points of each node.
std::vector<RadiusRange> radii_of_nodes(const SortedSources& sources) {
  const std::vector<TreeBox>& nodes = sources.trees.nodes;
  std::vector<RadiusRange> ranges(nodes.size());
  if (sources.radii.empty()) return ranges;
  // Children are behind their nodes.
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const TreeBox& node = nodes[n];
    if (node.is_leaf()) {
      const auto [least, largest] =
          std::ranges::minmax(std::span(sources.radii).subspan(node.first, node.count));
      ranges[n] = {least, largest};
      continue;
    }
    ranges[n] = ranges[node.children];
    for (std::uint32_t k = 1; k < node.parts; ++k) {
      ranges[n].least = std::min(ranges[n].least, ranges[node.children + k].least);
      ranges[n].largest = std::max(ranges[n].largest, ranges[node.children + k].largest);
    }
  }
  return ranges;
}

SortedSources sort_sources(const ListInput& input, PlacedImages& images, const Bounds& box,
                           bool apart, std::vector<PlacedParticle>& placed) {
  const unsigned threads = input.threads;
  SortedSources sources;
  const auto radius_of = [&](const NumberedPoint& p) {
    return input.source_radii[images.placed[p.number].number];
  };
  if (apart && !input.source_radii.empty())
    sources.trees = tree_for_each_octave(images.points, radius_of, leaf_sources, threads);
  else
    sources.trees = one_tree(images.points, box, leaf_sources, threads);
  const std::size_t n = images.points.size();
  for (std::vector<double>& x : sources.at) x.resize(n);
  if (!input.source_radii.empty()) sources.radii.resize(n);
  placed.resize(n);
  for_particles(n, threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) {
      const NumberedPoint& point = images.points[k];
      for (std::size_t c = 0; c < 3; ++c) sources.at[c][k] = point.x[c];
      if (!sources.radii.empty()) sources.radii[k] = radius_of(point);
      placed[k] = images.placed[point.number];
    }
  });
  sources.radii_of_nodes = radii_of_nodes(sources);
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
    return images_seen(from, input.sources, input.lattice,
                       {targets.points, reach, input.source_radii}, memory, threads);
  };
  PlacedImages images =
      same ? see(targets) : see(InBox(input.sources, input.lattice, "pos", threads));
  const Bounds around = bounds_of(targets.points, threads);
  const Bounds seen = bounds_of(images.points, threads);
  if (!images.points.empty()) lists.diagonal2 = square_of_diagonal(around, seen, input.skin);
  const TargetGroups groups = sort_targets(input, targets, around, lists.targets);
  const SortedSources sources = sort_sources(input, images, seen, groups.apart, lists.sources);
  find_all(input, groups.leaves, targets.points, sources, memory, lists);
  lists.counts = counts_of(lists, groups.leaves, input.skin);
  return lists;
}

}  // namespace gdr
