#include "libgdr/pairs/pair_lists.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "libgdr/pairs/box_tree.hpp"
#include "libgdr/particle/available_memory.hpp"

namespace gdr {
namespace {

/// Targets with a common list: more have longer lists, fewer pay more for each list.
constexpr std::size_t group_targets = 48;
/// Sources of a leaf, which are tested one by one.
constexpr std::size_t leaf_sources = 32;
/// Sources in a row from which on they are listed as one range.
constexpr std::size_t least_range = 256;
/// Memory of a source: its place, its position, its variables and those of the device.
constexpr double bytes_a_source = 200;
/// Memory of a single source in a list.
constexpr double bytes_an_entry = 4;
/// Distances of boxes are computed with rounding.
constexpr double box_rounding = 1e-12;
/// Host time of a source in a list, nanoseconds.
constexpr double ns_a_listed = 10;

double memory_limit() { return 0.5 * static_cast<double>(available_memory()); }

Point point_at(std::span<const double> x, std::size_t k) noexcept {
  return {x[3 * k], x[3 * k + 1], x[3 * k + 2]};
}

/// The images of sources that can be near a target.
class Images {
 public:
  Images(const ListInput& input, const std::vector<NumberedPoint>& targets, double reach)
      : lattice_(input.lattice) {
    for (std::size_t k = 0; k < lattice_.dimensions(); ++k) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const NumberedPoint& t : targets) {
        low = std::min(low, lattice_.fraction(k, t.x));
        high = std::max(high, lattice_.fraction(k, t.x));
      }
      const double margin = reach / lattice_.height(k) * (1 + box_rounding) + 1e-9;
      low_[k] = low - margin;
      high_[k] = high + margin;
    }
  }

  /// How many images there are of a source in the box, the source itself among them.
  double count(const Point& x) const {
    double n = 1;
    for (std::size_t k = 0; k < lattice_.dimensions(); ++k) {
      const auto [first, last] = range(k, x);
      n *= std::max(0.0, last - first + 1);
    }
    return n;
  }

  /// Calls add(shift) for each of them.
  template <typename Add>
  void for_each(const Point& x, const Add& add) const {
    if (count(x) == 0) return;
    Shift first{}, last{};
    for (std::size_t k = 0; k < lattice_.dimensions(); ++k) {
      const auto [from, to] = range(k, x);
      first[k] = static_cast<std::int32_t>(from);
      last[k] = static_cast<std::int32_t>(to);
    }
    for (std::int32_t a = first[0]; a <= last[0]; ++a)
      for (std::int32_t b = first[1]; b <= last[1]; ++b)
        for (std::int32_t c = first[2]; c <= last[2]; ++c) add(Shift{a, b, c});
  }

 private:
  std::pair<double, double> range(std::size_t k, const Point& x) const {
    const double at = lattice_.fraction(k, x);
    return {std::ceil(low_[k] - at), std::floor(high_[k] - at)};
  }

  const Lattice& lattice_;
  std::array<double, 3> low_{}, high_{};
};

/// The particles of an array, moved into the box, and how they were moved.
struct InBox {
  std::vector<NumberedPoint> points;
  std::vector<Shift> shifts;

  InBox(std::span<const double> x, const Lattice& lattice, const char* name) {
    const std::size_t n = x.size() / 3;
    points.resize(n);
    shifts.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      const Point at = point_at(x, k);
      shifts[k] = lattice.into_box(at, name, k);
      points[k] = {lattice.moved(at, shifts[k]), static_cast<std::uint32_t>(k)};
    }
  }
};

[[noreturn]] void too_many_images(double images, std::size_t sources, double memory) {
  throw Error(
      ErrorCategory::Input,
      fmt::format("the cut-off reaches {:.3g} images of {} sources, which take {:.3g} GB of "
                  "memory, of which {:.3g} GB may be used; use a smaller cut-off",
                  images, sources, 1e-9 * bytes_a_source * images, 1e-9 * memory));
}

/// Adds the images of sources that a target may see; `placed` are their particles by number.
void add_images(const ListInput& input, const InBox& sources, const Images& images,
                std::vector<NumberedPoint>& points, std::vector<PlacedParticle>& placed) {
  double total = 0;
  for (const NumberedPoint& s : sources.points) total += images.count(s.x);
  const double memory = memory_limit();
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  if (total * bytes_a_source > memory || total > most)
    too_many_images(total, sources.points.size(), memory);
  points.reserve(static_cast<std::size_t>(total));
  placed.reserve(static_cast<std::size_t>(total));
  for (const NumberedPoint& s : sources.points)
    images.for_each(s.x, [&](const Shift& image) {
      Shift shift = sources.shifts[s.number];
      for (std::size_t k = 0; k < 3; ++k) shift[k] += image[k];
      const Point x = point_at(input.sources, s.number);
      points.push_back({input.lattice.moved(x, shift), static_cast<std::uint32_t>(placed.size())});
      placed.push_back({s.number, shift, image == Shift{}});
    });
}

/// Finds the sources of a group.
class GroupSearch {
 public:
  GroupSearch(const std::vector<TreeBox>& tree, const std::vector<NumberedPoint>& sources)
      : tree_(tree), sources_(sources) {}

  /// Adds sources nearer than the radius to a target of the box, and a few others.
  void find(const TreeBox& targets, double radius2, TargetGroup& group) const {
    if (!tree_.empty()) visit(0, targets, radius2, group);
  }

 private:
  void visit(std::uint32_t at, const TreeBox& targets, double radius2, TargetGroup& group) const {
    const TreeBox& node = tree_[at];
    if (!(node.least_distance2(targets) < radius2)) return;
    if (node.largest_distance2(targets) < radius2) return add_whole(node, group);
    if (!node.is_leaf()) {
      visit(at + 1, targets, radius2, group);
      visit(node.right, targets, radius2, group);
      return;
    }
    // Without a branch on the distance, which cannot be predicted.
    const std::size_t before = group.single.size();
    group.single.resize(before + node.count);
    std::int32_t* next = group.single.data() + before;
    for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
      *next = static_cast<std::int32_t>(k);
      next += targets.least_distance2(sources_[k].x) < radius2 ? 1 : 0;
    }
    group.single.resize(static_cast<std::size_t>(next - group.single.data()));
  }

  static void add_whole(const TreeBox& node, TargetGroup& group) {
    if (node.count >= least_range) {
      group.whole.push_back({node.first, node.count});
      return;
    }
    for (std::uint32_t k = 0; k < node.count; ++k)
      group.single.push_back(static_cast<std::int32_t>(node.first + k));
  }

  const std::vector<TreeBox>& tree_;
  const std::vector<NumberedPoint>& sources_;
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

/// Makes the lists of all groups, and counts their pairs.
void find_all(const ListInput& input, const std::vector<TreeBox>& leaves,
              const std::vector<NumberedPoint>& targets, const GroupSearch& search,
              PairLists& lists) {
  lists.groups.resize(leaves.size());
  std::atomic<double> entries{0};
  const double memory = memory_limit();
  const Phase phase{leaves.size(), [&](std::size_t k) {
                      TargetGroup& group = lists.groups[k];
                      group.first = leaves[k].first;
                      group.count = leaves[k].count;
                      const double reach = reach_of(input, group, targets);
                      search.find(leaves[k], reach * reach, group);
                      group.single.shrink_to_fit();
                      const auto more = static_cast<double>(group.single.size());
                      const double all = entries.fetch_add(more) + more;
                      if (all * bytes_an_entry > memory)
                        lists_too_long(targets.size(), all, memory);
                    }};
  const double ns = ns_a_listed * 10 * static_cast<double>(targets.size());
  run_phases({&phase, 1}, threads_for(ns, input.threads));
  for (const TargetGroup& group : lists.groups) {
    auto sources = static_cast<double>(group.single.size());
    for (const ListedRange& r : group.whole) sources += static_cast<double>(r.count);
    lists.pairs += sources * static_cast<double>(group.count);
  }
}

/// At least the square of the distance of a target and a source, also after both have moved by half
/// of the skin.
double square_of_diagonal(const TreeBox& targets, const TreeBox& sources, double skin) {
  const double length = std::sqrt(targets.largest_distance2(sources));
  return (length + skin) * (length + skin) * (1 + box_rounding);
}

std::vector<PlacedParticle> placed_in_order(const std::vector<NumberedPoint>& points,
                                            const std::vector<PlacedParticle>& placed) {
  std::vector<PlacedParticle> sorted(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) sorted[k] = placed[points[k].number];
  return sorted;
}

}  // namespace

PairLists make_pair_lists(const ListInput& input) {
  PairLists lists;
  const bool same = input.targets.data() == input.sources.data();
  InBox targets(input.targets, input.lattice, same ? "pos" : "targets");
  if (targets.points.empty()) return lists;
  const InBox sources(input.sources, input.lattice, "pos");
  const double reach = *std::ranges::max_element(input.radii) + input.skin;
  std::vector<NumberedPoint> points;
  std::vector<PlacedParticle> placed;
  add_images(input, sources, Images(input, targets.points, reach), points, placed);
  const std::vector<TreeBox> tree = sort_into_boxes(points, leaf_sources, input.threads);
  lists.sources = placed_in_order(points, placed);
  const std::vector<TreeBox> groups = sort_into_boxes(targets.points, group_targets, input.threads);
  for (const NumberedPoint& t : targets.points)
    lists.targets.push_back({t.number, targets.shifts[t.number], true});
  if (!tree.empty()) lists.diagonal2 = square_of_diagonal(groups[0], tree[0], input.skin);
  std::vector<TreeBox> leaves;
  std::ranges::copy_if(groups, std::back_inserter(leaves), &TreeBox::is_leaf);
  find_all(input, leaves, targets.points, GroupSearch(tree, points), lists);
  return lists;
}

}  // namespace gdr
