#include "libgdr/tree/gravity_sums.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "emulator/host/stopwatch.hpp"
#include "libgdr/tree/designs.hpp"
#include "libgdr/tree/gravity_choice.hpp"

namespace gdr::tree {
namespace {

/// Calls work(k, the caller's number) for the particles of a tree.
template <typename Work>
void for_particles(const Octree& tree, const Work& work) {
  for_blocks(tree.size(), 1 << 14, tree.threads(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) work(k, std::size_t{tree.order()[k]});
  });
}

LineVector<double> in_order(const Octree& tree, const double* values) {
  LineVector<double> sorted(tree.size());
  for_particles(tree, [&](std::size_t k, std::size_t i) { sorted[k] = values[i]; });
  return sorted;
}

LineVector<Velocity> velocities_in_order(const Octree& tree, const double* triples) {
  LineVector<Velocity> sorted(tree.size());
  for_particles(tree, [&](std::size_t k, std::size_t i) {
    sorted[k] = {triples[3 * i], triples[3 * i + 1], triples[3 * i + 2]};
  });
  return sorted;
}

LineVector<Source> without_masses(const Octree& tree) {
  LineVector<Source> all = particles_of(tree, LineVector<double>(tree.size()));
  for (Source& s : all) s.id = -1;
  return all;
}

std::size_t given_or(std::size_t value, std::size_t otherwise) {
  return value > 0 ? value : otherwise;
}

}  // namespace

GravitySums::GravitySums(SetJob& job, const GravityInput& input, const TreeOptions& options,
                         bool keeps_accuracy, unsigned threads, const HostSteps& host,
                         GroupShare* share)
    : host_(host),
      in_(input),
      options_(options),
      share_(share),
      wants_expansions_(expansions_are_wanted(input, options, charges_cancel(input))),
      keeps_accuracy_(keeps_accuracy),
      tree_(in_.n_sources, in_.source, leaf_size(), threads),
      mass_(in_order(tree_, in_.mass)),
      moments_(moments_of(tree_, mass_)),
      sources_(particles_of(tree_, mass_)),
      sums_(job, all_, threads),
      sample_sums_(job, sample_, threads) {
  if (!in_.same) {
    target_tree_.emplace(in_.n_targets, in_.target, group_size(), threads);
    all_.at = without_masses(*target_tree_);
    if (in_.target_source != nullptr) number_targets();
  } else {
    all_.at = sources_;
  }
  all_.rows.resize(in_.n_targets);
  softening_.all = in_.softening * in_.softening;
  if (in_.softening_of_each) take_softening();
  sums_.progress = options.progress;
  if (!has_jerk()) return;
  particle_velocity_ = velocities_in_order(tree_, in_.source_velocity);
  all_.velocity =
      in_.same ? particle_velocity_ : velocities_in_order(*target_tree_, in_.target_velocity);
  all_.jerks.resize(in_.n_targets);
}

std::size_t GravitySums::group_size() const noexcept {
  return given_or(options_.group_size,
                  wants_expansions_ ? groups_of_expansions : groups_of_proxies);
}

std::size_t GravitySums::leaf_size() const noexcept {
  return given_or(options_.leaf_size, wants_expansions_ ? 64 : 24);
}

/// Gives targets that are sources the numbers of these in the order of the tree.
void GravitySums::number_targets() {
  std::vector<std::uint32_t> place(tree_.size());
  for_particles(tree_,
                [&](std::size_t k, std::size_t i) { place[i] = static_cast<std::uint32_t>(k); });
  for_particles(*target_tree_,
                [&](std::size_t k, std::size_t i) { all_.at[k].id = place[in_.target_source[i]]; });
}

void GravitySums::take_softening() {
  source_square_ = in_order(tree_, in_.source_square);
  all_.square = in_order(targets(), in_.target_square);
  cluster_softening_ = softening_of(tree_, source_square_, mass_);
  softening_ = {0, cluster_softening_, all_.square};
  sums_.source_square = sample_sums_.source_square = source_square_;
}

/// Proxies have the mean of their cluster.
void GravitySums::set_softening_of_proxies() {
  source_square_.resize(sources_.size());
  for (const Proxies& kind : proxies_)
    for (std::size_t q = 0; q < kind.first.size(); ++q)
      if (kind.first[q] != Proxies::none)
        std::fill_n(&source_square_[kind.first[q]], kind.points, cluster_softening_[q].mean);
  sums_.source_square = sample_sums_.source_square = source_square_;
}

void GravitySums::make_groups(std::span<const Group> groups) {
  groups_.assign(groups.begin(), groups.end());
  for (Group& g : groups_) g.softening = softening_.max_of_targets(g.first, g.count);
  proxies_.clear();
  hierarchy_ = {&tree_, moments_, {}, 0, softening_};
}

void GravitySums::use_expansions() {
  far_.emplace(tree_, moments_, mass_, softening_, targets(), group_size());
  make_groups(far_->groups());
}

void GravitySums::use_proxies() {
  far_.reset();
  make_groups(targets().groups(given_or(options_.group_size, groups_of_proxies)));
}

bool GravitySums::set_expansions(unsigned degree) {
  if (far_->degree() == degree) return false;
  host_([&] { far_->set_degree(degree); });
  return true;
}

void GravitySums::plan_proxies_up_to(unsigned degree) {
  proxies_.clear();
  proxies_.push_back(plan_proxies(tree_, moments_, 1, 1));
  for (unsigned d = min_degree; d <= degree; ++d)
    proxies_.push_back(plan_proxies(tree_, moments_, d, points_of(in_, d)));
  hierarchy_.proxies = proxies_;
}

void GravitySums::set_proxies(unsigned degree) {
  host_([&] {
    sources_.resize(in_.n_sources);
    proxies_.clear();
    proxies_.push_back(add_monopoles(tree_, moments_, sources_));
    // Fewer points do for clusters that are further away.
    for (unsigned d = min_degree; d <= degree; ++d)
      proxies_.push_back(points_of(in_, d) == points_of_quadrupole
                             ? add_quadrupoles(tree_, moments_, sources_)
                             : add_multipoles(tree_, moments_, d, sources_));
    hierarchy_.proxies = proxies_;
    if (softening_.of_each()) set_softening_of_proxies();
    if (!has_jerk()) return;
    // Jerks lack the derivative of the quadrupole, which has one distance less.
    if (degree > 1) proxies_.front().degree = 0;
    source_velocity_ = velocities_of(tree_, moments_, proxies_, particle_velocity_, sources_);
    sums_.source_velocity = sample_sums_.source_velocity = source_velocity_;
  });
}

/// The square of the distance, in softening lengths, at which softening changes potentials by less
/// than twice the accuracy. A cluster at that distance has a small part of an acceleration, of
/// whose softening the far field has the first order.
double GravitySums::square_reach() const noexcept {
  return 0.3 / (options_.theta > 0 && !keeps_accuracy_ ? 1e-5 : options_.accuracy);
}

GravitySums::Lengths GravitySums::lengths_of(std::span<const std::uint32_t> groups) {
  std::vector<Group> chosen;
  Lengths lengths;
  for (const std::uint32_t g : groups) {
    chosen.push_back(groups_[g]);
    lengths.targets += static_cast<double>(groups_[g].count);
  }
  if (far_) host_([&] { far_->compute({theta(), square_reach()}, groups); });
  GroupLists lists(tree_.threads());
  for (std::span<const Group> left = chosen; !left.empty();)
    left = left.subspan(lists.make(left, hierarchy_));
  lengths.mean = lists.pairs / std::max(1.0, lengths.targets);
  return lengths;
}

void GravitySums::set_sample(std::span<const std::uint32_t> places) {
  sample_ = all_.at_places(places);
  sample_groups_.clear();
  numbers_of_sample_.clear();
  std::uint32_t g = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    while (groups_[g].first + groups_[g].count <= places[k]) ++g;
    if (numbers_of_sample_.empty() || numbers_of_sample_.back() != g) {
      sample_groups_.push_back({k, 0, groups_[g].box, groups_[g].begin, groups_[g].softening});
      numbers_of_sample_.push_back(g);
    }
    ++sample_groups_.back().count;
  }
}

std::span<const ResultRow> GravitySums::compute_sample() {
  sum(sample_sums_, sample_groups_, numbers_of_sample_);
  return sample_.rows;
}

double GravitySums::length_of_sample() const {
  return sample_sums_.lists.pairs /
         static_cast<double>(std::max<std::size_t>(1, sample_.at.size()));
}

/// Computes some groups of targets, which are parts of the groups with these numbers.
void GravitySums::sum(GroupSums& sums, std::span<const Group> some,
                      std::span<const std::uint32_t> numbers) {
  const Stopwatch expansions;
  if (far_) host_([&] { far_->compute({theta(), square_reach()}, numbers); });
  expansion_seconds_ += expansions.seconds();
  sums.lists.pairs = 0;
  sums.compute(some, hierarchy_, sources_);
  if (!far_) return;
  const std::span<const Source> at = sums.targets().at;
  const std::span<ResultRow> rows = sums.targets().rows;
  const Stopwatch evaluation;
  host_([&] {
    for_blocks(some.size(), 8, tree_.threads(), [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k)
        far_->add(numbers[k], at.subspan(some[k].first, some[k].count),
                  rows.subspan(some[k].first, some[k].count));
    });
  });
  expansion_seconds_ += evaluation.seconds();
}

void GravitySums::compute_all() {
  std::vector<std::uint32_t> all(groups_.size());
  std::iota(all.begin(), all.end(), 0);
  const std::span<const std::uint32_t> numbers = all;
  if (share_ == nullptr) return sum(sums_, groups_, numbers);
  const std::string name =
      fmt::format("sums with a tree of degree {} and theta {}", degree(), theta());
  share_->step(name, [&] {
    const std::span<const Group> own = share_->own(groups_);
    sums_.lists.pairs = 0;
    if (own.empty()) return;
    const auto first = static_cast<std::size_t>(own.data() - groups_.data());
    sum(sums_, own, numbers.subspan(first, own.size()));
  });
  share_->join(groups_, all_.rows.data(), sizeof(ResultRow), all_.rows.size());
  if (has_jerk()) share_->join(groups_, all_.jerks.data(), sizeof(ResultRow), all_.jerks.size());
  sums_.lists.pairs = share_->add_pairs(sums_.lists.pairs);
}

void GravitySums::write(const GravityResults& to) const {
  const auto write_vector = [](const ResultRow& row, double* triple) {
    triple[0] = row.ax;
    triple[1] = row.ay;
    triple[2] = row.az;
  };
  for_particles(targets(), [&](std::size_t k, std::size_t i) {
    if (to.potential != nullptr) to.potential[i] = all_.rows[k].pot;
    if (to.acceleration != nullptr) write_vector(all_.rows[k], to.acceleration + 3 * i);
    if (to.jerk != nullptr) write_vector(all_.jerks[k], to.jerk + 3 * i);
  });
}

double GravitySums::mean_length() const {
  return sums_.lists.pairs / static_cast<double>(std::max<std::size_t>(1, all_.rows.size()));
}

void GravitySums::add_times(TreeReport& report) const {
  report.expansion_seconds = expansion_seconds_;
  report.list_seconds = sums_.list_seconds;
  report.force_seconds = sums_.force_seconds;
}

}  // namespace gdr::tree
