#include "libgdr/particle/neighbour_lists.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Most targets of a group, and groups of a task.
constexpr std::size_t targets_in_group = NeighbourTree::leaf_sources, task_groups = 4;
/// Targets of a task of other work.
constexpr std::size_t task_targets = 256;
/// Largest ratio of the radii of a group: all its targets look at the sources near the largest.
constexpr double radius_ratio = 1.5;
/// Candidates for which memory is used at a time.
constexpr std::size_t max_candidates = 1 << 16;
/// Pairs that a thread has found before others know of them.
constexpr std::size_t max_unreported = 10000;
/// Pairs from which the length of the other lists is projected.
constexpr std::size_t min_projected = 4'000'000;
/// Most images of the box within a radius.
constexpr double max_images = 1e7;
/// Host time for a target besides its list, and for a source in the tree, nanoseconds.
constexpr double ns_a_target = 1000, ns_a_source = 100;

/// A source and the code of its image: keys are sorted by both.
constexpr std::uint64_t key_of(std::uint32_t source, std::uint32_t image) noexcept {
  return std::uint64_t{source} << 32 | image;
}
constexpr std::uint32_t source_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>(key >> 32);
}
constexpr std::uint32_t image_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>(key);
}

bool are_same(std::span<const double> a, std::span<const double> b) noexcept {
  return a.data() == b.data() && a.size() == b.size();
}

}  // namespace

NeighbourSearch::NeighbourSearch(std::span<const double> sources, std::span<const double> targets,
                                 std::span<const double> radii, const NeighbourOptions& options,
                                 bool with_images)
    : box_(options.box),
      sources_("pos", sources, box_),
      targets_("targets", targets, box_),
      radii_(radii),
      options_(options),
      with_images_(with_images),
      is_one_set_(are_same(sources, targets)),
      n_(targets.size() / 3),
      source_tree_(sources_.positions(), options.threads),
      target_tree_(is_one_set_ ? std::span<const double>() : targets_.positions(),
                   options.threads) {
  const double ns =
      ns_a_target * static_cast<double>(n_) + ns_a_source * static_cast<double>(sources.size()) / 3;
  threads_ = threads_for(ns, options.threads);
  if (box_.is_periodic()) choose_images();
  make_groups();
}

/// The images of the box within the largest radius of a target, and the errors of distances. A
/// coordinate is moved by up to S edges, each of a few roundings: together less than 64 of the
/// largest number among them.
void NeighbourSearch::choose_images() {
  const double largest = n_ == 0 || radii_.empty() ? 0 : *std::ranges::max_element(radii_);
  double edges = sources_.max_edges() + targets_.max_edges() + 2;
  for (std::size_t c = 0; c < box_.dimensions(); ++c) edges += largest / box_.height(c);
  slack_ =
      0x1p-46 * (std::max(sources_.largest(), targets_.largest()) + edges * box_.size() + largest);
  const auto [first, last] = images_near(targets_.in_edges(), largest);
  const Point count{last[0] - first[0] + 1, last[1] - first[1] + 1, last[2] - first[2] + 1};
  codes_ = {first, count};
  if (!(codes_.size() <= max_images))
    throw Error(ErrorCategory::Input,
                fmt::format("the radius {:g} reaches {:.3g} images of the box; at most {:.0e} are "
                            "possible: use smaller radii",
                            largest, codes_.size(), max_images));
}

/// The first and the last images of the box that may have sources within the radius of targets with
/// these coordinates in edges.
std::pair<Point, Point> NeighbourSearch::images_near(const Bounds& targets,
                                                     double radius) const noexcept {
  constexpr double rounding = 1e-6;  // of coordinates in edges
  Point first{}, last{};
  for (std::size_t c = 0; c < box_.dimensions(); ++c) {
    const double reach = (radius + slack_) / box_.height(c) + rounding;
    first[c] = std::ceil(targets.low[c] - reach - sources_.in_edges().high[c]);
    last[c] = std::max(std::floor(targets.high[c] + reach - sources_.in_edges().low[c]), first[c]);
  }
  return {first, last};
}

/// The square of a radius within which rounding loses no pair.
double NeighbourSearch::search_radius2(double radius) const noexcept {
  const double outer = radius + slack_;
  return outer * outer;
}

void NeighbourSearch::make_groups() {
  const NeighbourTree& tree = is_one_set_ ? source_tree_ : target_tree_;
  tree.for_each_leaf([&](std::span<const std::uint32_t> targets, const Bounds& bounds) {
    divide_group(targets, bounds);
  });
}

/// Divides targets into groups with similar radii.
void NeighbourSearch::divide_group(std::span<const std::uint32_t> targets, const Bounds& bounds) {
  const std::size_t whole = targets.size();
  while (!targets.empty()) {
    double least = radius(targets[0]), most = least;
    std::size_t n = 1;
    for (; n < targets.size() && n < targets_in_group; ++n) {
      const double r = radius(targets[n]);
      if (!(std::max(most, r) <= radius_ratio * std::min(least, r))) break;
      least = std::min(least, r);
      most = std::max(most, r);
    }
    Group group{targets.first(n), bounds, most};
    if (n < whole) {
      group.bounds = {targets_[targets[0]], targets_[targets[0]]};
      for (const std::uint32_t i : group.targets) group.bounds.include(targets_[i]);
    }
    groups_.push_back(group);
    targets = targets.subspan(n);
  }
}

std::span<const NeighbourSearch::Group> NeighbourSearch::groups_of(
    std::size_t task) const noexcept {
  const std::span<const Group> groups = groups_;
  const std::size_t first = task * task_groups;
  return groups.subspan(first, std::min(task_groups, groups.size() - first));
}

/// Calls at_image(k, bounds) for the images k of the box that may have sources within the radius of
/// targets, as long as it returns true; bounds are those of the targets in the coordinates of the
/// image.
template <typename AtImage>
void NeighbourSearch::for_each_image(const Bounds& targets, double radius,
                                     const AtImage& at_image) const {
  if (!box_.is_periodic()) {
    at_image(Point{}, targets);
    return;
  }
  // The bounds' corners in edges.
  Bounds in_edges{box_.in_edges(targets.low), box_.in_edges(targets.low)};
  for (unsigned corner = 1; corner < 8; ++corner) {
    Point x = targets.low;
    for (std::size_t c = 0; c < 3; ++c)
      if ((corner >> c & 1) != 0) x[c] = targets.high[c];
    in_edges.include(box_.in_edges(x));
  }
  for (std::size_t c = 0; c < 3; ++c) {
    in_edges.low[c] = std::max(in_edges.low[c], targets_.in_edges().low[c]);
    in_edges.high[c] = std::min(in_edges.high[c], targets_.in_edges().high[c]);
  }
  const auto [first, last] = images_near(in_edges, radius);
  for (Point k = first; k[0] <= last[0]; ++k[0])
    for (k[1] = first[1]; k[1] <= last[1]; ++k[1])
      for (k[2] = first[2]; k[2] <= last[2]; ++k[2]) {
        const Point s = box_.shift(k);
        Bounds moved = targets;
        for (std::size_t c = 0; c < 3; ++c) moved.low[c] -= s[c], moved.high[c] -= s[c];
        if (!at_image(k, moved)) return;
      }
}

/// What all threads know of the search.
struct NeighbourSearch::Progress {
  std::size_t most;
  bool early;
  std::atomic<std::size_t> pairs{0}, searched{0};
  std::atomic<bool> too_long{false};
};

/// The search of one thread for the lists of a group.
struct NeighbourSearch::Worker {
  NeighbourSearch& all;
  Progress& progress;
  Found& found;
  std::vector<std::uint64_t> keys{};                  ///< keys of candidates
  std::array<std::vector<double>, 3> at{}, shifts{};  ///< places of candidates; their shifts
  std::vector<std::uint32_t> near{};                  ///< candidates near a target
  std::array<std::vector<std::uint64_t>, targets_in_group> mine{};  ///< lists of the group
  std::size_t unreported = 0;

  bool is_ended() const { return all.options_.stop.stop_requested() || progress.too_long; }

  void search(const Group& group) {
    std::size_t parts = 0;
    const double radius2 = all.search_radius2(group.radius);
    all.for_each_image(group.bounds, group.radius, [&](const Point& k, const Bounds& x) {
      const std::uint32_t image = all.codes_.code(k);
      all.source_tree_.find_near(x, radius2, [&](std::span<const std::uint32_t> sources) {
        for (const std::uint32_t j : sources) keys.push_back(key_of(j, image));
        if (keys.size() < max_candidates || is_ended()) return;
        choose(group);
        ++parts;
      });
      return !is_ended();
    });
    if (!keys.empty()) choose(group), ++parts;
    for (std::size_t t = 0; t < group.targets.size() && !is_ended(); ++t)
      finish(group.targets[t], mine[t], parts);
    for (std::vector<std::uint64_t>& list : mine) list.clear();
  }

  /// Adds the candidates within the radii to the lists of the group.
  void choose(const Group& group) {
    std::sort(keys.begin(), keys.end());
    place_candidates();
    Point edges{};
    for (std::size_t t = 0; t < group.targets.size() && !is_ended(); ++t) {
      const std::size_t i = group.targets[t];
      if (all.box_.is_periodic() && (t == 0 || all.targets_.edges(i) != edges)) {
        edges = all.targets_.edges(i);
        shift_candidates(i);
      }
      near.clear();
      const double r = all.radius(i);
      find_shifted({at[0].data(), at[1].data(), at[2].data()},
                   {shifts[0].data(), shifts[1].data(), shifts[2].data()}, keys.size(),
                   all.targets_.given(i), r * r, near);
      const std::size_t before = mine[t].size();
      for (const std::uint32_t k : near)
        if (!is_left_out(i, keys[k])) mine[t].push_back(keys[k]);
      unreported += mine[t].size() - before;
      if (unreported > max_unreported) report(0);
    }
    keys.clear();
  }

  void place_candidates() {
    for (std::size_t c = 0; c < 3; ++c) {
      at[c].resize(keys.size());
      shifts[c].resize(keys.size());
    }
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const Point x = all.sources_.given(source_of(keys[k]));
      for (std::size_t c = 0; c < 3; ++c) at[c][k] = x[c];
    }
  }

  /// The shifts of candidates between the places given for them and the target.
  void shift_candidates(std::size_t i) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const Point s = all.box_.shift(all.edges_between(i, source_of(keys[k]), image_of(keys[k])));
      for (std::size_t c = 0; c < 3; ++c) shifts[c][k] = s[c];
    }
  }

  bool is_left_out(std::size_t i, std::uint64_t key) const {
    const NeighbourOptions& options = all.options_;
    const std::uint32_t j = source_of(key);
    if (options.exclude_same_number && j == i && all.edges_between(i, j, image_of(key)) == Point{})
      return true;
    return !options.target_ids.empty() && options.source_ids[j] == options.target_ids[i];
  }

  /// Adds a list of some sorted parts to those of the task.
  void finish(std::size_t i, std::vector<std::uint64_t>& list, std::size_t parts) {
    if (parts > 1) std::sort(list.begin(), list.end());
    if (all.with_images_ && all.box_.is_reduced()) sort_images(list);
    for (const std::uint64_t key : list) found.sources.push_back(source_of(key));
    if (all.with_images_)
      for (const std::uint64_t key : list) found.images.push_back(image_of(key));
    all.lengths_[i + 1] = static_cast<std::int64_t>(list.size());
    if (list.capacity() > max_candidates) list = {};
  }

  /// Sorts the images of each source by their numbers of the box's vectors.
  void sort_images(std::vector<std::uint64_t>& list) const {
    const auto numbers = [&](std::uint64_t key) {
      return all.box_.in_vectors(all.codes_.image(image_of(key)));
    };
    for (auto first = list.begin(); first != list.end();) {
      const auto end = std::find_if(first, list.end(), [&](std::uint64_t key) {
        return source_of(key) != source_of(*first);
      });
      std::sort(first, end,
                [&](std::uint64_t a, std::uint64_t b) { return numbers(a) < numbers(b); });
      first = end;
    }
  }

  /// Tells other threads, seldom, as they wait for each other here.
  void report(std::size_t targets) {
    progress.pairs += std::exchange(unreported, 0);
    progress.searched += targets;
    const auto pairs = static_cast<double>(progress.pairs),
               most = static_cast<double>(progress.most);
    const auto searched = static_cast<double>(progress.searched + all.threads_ * targets_in_group);
    const double share = searched / static_cast<double>(all.n_);
    if (pairs > most || (progress.early && progress.pairs > min_projected && pairs > share * most))
      progress.too_long = true;
  }
};

void NeighbourSearch::search_task(std::size_t task, Progress& progress) {
  Worker worker{*this, progress, found_[task]};
  for (const Group& group : groups_of(task)) {
    if (worker.is_ended()) return;
    worker.search(group);
    worker.report(group.targets.size());
  }
}

bool NeighbourSearch::find(std::size_t most, bool early) {
  lengths_.assign(n_ + 1, 0);
  const std::size_t tasks = (groups_.size() + task_groups - 1) / task_groups;
  found_.assign(tasks, {});
  Progress progress{most, early};
  in_phase(tasks, [&](std::size_t task) { search_task(task, progress); });
  return !progress.too_long;
}

double NeighbourSearch::count(std::size_t most) const {
  std::atomic<std::size_t> pairs{0}, counted{0};
  std::atomic<bool> is_enough{false};
  const std::size_t tasks = (groups_.size() + task_groups - 1) / task_groups;
  in_phase(tasks, [&](std::size_t task) {
    for (const Group& group : groups_of(task))
      for (const std::uint32_t i : group.targets) {
        if (options_.stop.stop_requested() || is_enough) return;
        std::size_t mine = 0;
        const double r = radius(i);
        for_each_image({targets_[i], targets_[i]}, r, [&](const Point&, const Bounds& x) {
          mine += source_tree_.count(x.low, r * r);
          return true;
        });
        pairs += mine;
        ++counted;
        if (box_.is_periodic() && pairs > 2 * most) is_enough = true;
      }
  });
  const double share = static_cast<double>(counted) / static_cast<double>(n_);
  const auto own = static_cast<double>(options_.exclude_same_number ? counted.load() : 0);
  return std::max(static_cast<double>(pairs) - own, 0.0) / share;
}

NeighbourLists NeighbourSearch::lists(std::vector<std::uint32_t>& images) {
  NeighbourLists lists;
  lists.offsets = std::move(lengths_);
  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  lists.indices.resize(static_cast<std::size_t>(lists.offsets.back()));
  images.resize(with_images_ ? lists.indices.size() : 0);
  in_phase(found_.size(), [&](std::size_t task) {
    if (options_.stop.stop_requested()) return;
    std::size_t from = 0;
    for (const Group& group : groups_of(task))
      for (const std::uint32_t i : group.targets) {
        const auto to = static_cast<std::ptrdiff_t>(lists.offsets[i]);
        const auto n = static_cast<std::size_t>(lists.offsets[i + 1] - lists.offsets[i]);
        std::copy_n(found_[task].sources.data() + from, n, lists.indices.begin() + to);
        if (with_images_) std::copy_n(found_[task].images.data() + from, n, images.begin() + to);
        from += n;
      }
    found_[task] = {};
  });
  return lists;
}

void NeighbourSearch::for_each_target(const std::function<void(std::size_t)>& work) const {
  in_phase((n_ + task_targets - 1) / task_targets, [&](std::size_t task) {
    for (std::size_t i = task * task_targets; i < std::min(n_, (task + 1) * task_targets); ++i) {
      if (options_.stop.stop_requested()) return;
      work(i);
    }
  });
}

// The source in the box is x_j - n_j edges, its image k edges further; the target is n_i edges away
// from where the image was found.
Point NeighbourSearch::edges_between(std::size_t i, std::size_t j,
                                     std::uint32_t image) const noexcept {
  const Point k = codes_.image(image), nj = sources_.edges(j), ni = targets_.edges(i);
  return {k[0] - nj[0] + ni[0], k[1] - nj[1] + ni[1], k[2] - nj[2] + ni[2]};
}

void NeighbourSearch::in_phase(std::size_t tasks,
                               const std::function<void(std::size_t)>& work) const {
  const Phase phase{tasks, work};
  run_phases({&phase, 1}, threads_);
  if (options_.stop.stop_requested())
    throw Error(ErrorCategory::Device, "the search for neighbours was stopped");
}

}  // namespace gdr
