#include "libgdr/tree/gravity_tree.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/tree/choice_costs.hpp"
#include "libgdr/tree/designs.hpp"
#include "libgdr/tree/far_field.hpp"
#include "libgdr/tree/gravity_choice.hpp"

namespace gdr::tree {
namespace {

/// Targets of a second sample, among small accelerations.
constexpr std::size_t small_samples = 128;

/// Calls work(k, the caller's number) for the particles of a tree.
template <typename Work>
void for_particles(const Octree& tree, const Work& work) {
  for_blocks(tree.size(), 1 << 14, tree.threads(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) work(k, std::size_t{tree.order()[k]});
  });
}

std::vector<double> in_order(const Octree& tree, const double* values) {
  std::vector<double> sorted(tree.size());
  for_particles(tree, [&](std::size_t k, std::size_t i) { sorted[k] = values[i]; });
  return sorted;
}

std::vector<Velocity> velocities_in_order(const Octree& tree, const double* triples) {
  std::vector<Velocity> sorted(tree.size());
  for_particles(tree, [&](std::size_t k, std::size_t i) {
    sorted[k] = {triples[3 * i], triples[3 * i + 1], triples[3 * i + 2]};
  });
  return sorted;
}

class GravityTree {
 public:
  GravityTree(SetJob& job, const GravityInput& input, const TreeOptions& options,
              bool keeps_accuracy, unsigned threads, const HostSteps& host, GroupShare* share)
      : host_(host),
        in_(input),
        options_(options),
        share_(share),
        costs_(input, options, group_size_of(input, options)),
        charges_cancel_(charges_cancel(input)),
        keeps_accuracy_(keeps_accuracy),
        tree_(in_.n_sources, in_.source, leaf_size(), threads),
        mass_(in_order(tree_, in_.mass)),
        moments_(moments_of(tree_, mass_)),
        sources_(particles_of(tree_, mass_)),
        sums_(job, all_, threads),
        trial_sums_(job, trial_, threads) {
    if (!in_.same) {
      target_tree_.emplace(in_.n_targets, in_.target, group_size(), threads);
      all_.at = targets_of(*target_tree_);
      if (in_.target_source != nullptr) number_targets();
    } else {
      all_.at = sources_;
    }
    all_.rows.resize(in_.n_targets);
    softening_.all = in_.softening * in_.softening;
    if (in_.softening_of_each) take_softening();
    if (has_jerk()) {
      particle_velocity_ = velocities_in_order(tree_, in_.source_velocity);
      all_.velocity =
          in_.same ? particle_velocity_ : velocities_in_order(*target_tree_, in_.target_velocity);
      all_.jerks.resize(in_.n_targets);
    }
  }

  const Octree& targets() const { return in_.same ? tree_ : *target_tree_; }

  bool has_jerk() const { return in_.source_velocity != nullptr; }

  /// Chooses degree and theta; false if direct sums are faster or needed.
  bool choose(const DirectSums& direct, const DirectSums& direct_jerk) {
    direct_ = &direct;
    costs_.spent = costs_.build();
    bool found = false;
    in_step(share_, "lengths of lists", [&] { found = can_pay(); });
    if (!found) return false;
    const SamplePlaces places = sample_places(groups_, samples(), samples_of_list(in_));
    sample_.emplace(targets(), places, direct);
    if (has_jerk()) jerk_sample_.emplace(targets(), places, direct_jerk);
    costs_.spent += cost_of_sample();
    trial_ = all_.at_places(places.places);
    in_step(share_, "choice of a tree", [&] { found = choose_for_sample(); });
    return found;
  }

  /// Computes all targets, with a smaller theta as long as the error is too large.
  bool compute() {
    std::vector<std::uint32_t> all(groups_.size());
    std::iota(all.begin(), all.end(), 0);
    sums_.progress = options_.progress;
    for (;;) {
      sum_all(all);
      error_ = sample_->error_of(sample_->rows_of(all_.rows));
      measure_small_accelerations();
      // Direct sums name the particle with an acceleration that is not finite.
      if (!std::isfinite(error_.rms)) return false;
      if (options_.theta > 0 || error_.rms <= options_.accuracy) return true;
      const double smaller =
          std::pow(accuracy_of_sample * options_.accuracy / error_.rms, 1.0 / (degree() + 1.5));
      const double step = std::clamp(smaller, 0.5, 0.8);
      hierarchy_.theta *= step;
      // Lists grow by more than the square of the distances.
      const double pairs = sums_.lists.pairs / static_cast<double>(all_.rows.size());
      if (hierarchy_.theta < smallest_theta || !costs_.is_fast(pairs / (step * step), harmonics()))
        return false;
    }
  }

  void write(const GravityResults& to) const {
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

  TreeReport report() const {
    TreeReport r;
    r.degree = degree();
    r.method = far_            ? TreeMethod::Expansion
               : r.degree == 1 ? TreeMethod::Monopole
                               : TreeMethod::Multipole;
    r.expansion_seconds = expansion_seconds_;
    r.theta = hierarchy_.theta;
    r.error = error_.rms;
    r.largest_error = error_.largest;
    if (has_jerk()) r.jerk_error = jerk_sample_->error_of(jerk_sample_->rows_of(all_.jerks)).rms;
    r.samples = sample_->places().size();
    r.clusters = tree_.clusters().size();
    r.groups = groups_.size();
    r.sources_per_target =
        sums_.lists.pairs / static_cast<double>(std::max<std::size_t>(1, all_.rows.size()));
    r.list_seconds = sums_.list_seconds;
    r.force_seconds = sums_.force_seconds;
    return r;
  }

  /// Forgets the time of the choice's expansions.
  void reset_times() { expansion_seconds_ = 0; }

 private:
  /// Adds the errors of a second sample: few targets with small accelerations may have most of
  /// them.
  void measure_small_accelerations() {
    if (sample_->is_whole()) return;
    const Sample small(targets(), all_.rows, small_samples, *direct_);
    error_ = sample_->error_with(small, all_.rows);
  }

  /// Whether a tree may be faster than direct sums, by the lengths of lists with the usual degree
  /// and theta, which are counted before anything is computed. Makes the groups of the targets.
  bool can_pay() {
    if (wants_expansions() && costs_.usually_pays(true)) {
      far_.emplace(tree_, moments_, mass_, softening_, targets(), group_size());
      make_groups(far_->groups());
      if (options_.method == TreeMethod::Expansion || expansions_can_pay()) return true;
      far_.reset();
    }
    return proxies_can_pay();
  }
  /// Softening may leave so many pairs that a trial would take as long as direct sums.
  bool expansions_can_pay() {
    use_degree(static_cast<int>(degree_of_trial));
    hierarchy_ = {&tree_, moments_, {}, theta_of_expansions, softening_};
    const unsigned usual = usual_degree(options_.accuracy);
    const double pairs = length_of_some_lists();
    costs_.expect(pairs, usual);
    return pairs_are_few(pairs) && costs_.pays(pairs, usual) &&
           costs_.affordable(cost_of_sample() + costs_.trial(lists_of_trial(), pairs, usual));
  }
  bool proxies_can_pay() {
    if (!costs_.usually_pays(false)) return false;
    make_groups(targets().groups(or_default(options_.group_size, groups_of_proxies)));
    if (options_.method != TreeMethod::Auto || options_.theta > 0) return true;
    const unsigned degree = degrees().front();
    std::vector<Proxies> planned{plan_proxies(tree_, moments_, 1)};
    for (unsigned d = least_degree; d <= degree; ++d)
      planned.push_back(plan_proxies(tree_, moments_, d));
    // What a lucky choice would have.
    constexpr double lucky = 1.2;
    const double usual = options_.degree > 0 ? 1 : first_choice(options_.accuracy).theta;
    hierarchy_ = {&tree_, moments_, planned, std::min(lucky * usual, largest_theta), softening_};
    const double length = length_of_some_lists();
    hierarchy_.proxies = {};
    costs_.expect(length, 0);
    const double choice = cost_of_sample() + costs_.proxies(degree);
    return costs_.pays(length, 0, choice) &&
           costs_.affordable(choice + costs_.trial(lists_of_trial(), length, 0));
  }
  /// The mean length of the lists of some groups with this hierarchy.
  double length_of_some_lists() {
    const std::size_t some = std::clamp<std::size_t>(in_.n_targets / 1000, 12, 32);
    std::vector<Group> chosen;
    std::vector<std::uint32_t> numbers;
    const std::size_t step = divide_up(groups_.size(), some);
    for (std::size_t k = step / 2; k < groups_.size(); k += step) {
      chosen.push_back(groups_[k]);
      numbers.push_back(static_cast<std::uint32_t>(k));
    }
    if (far_) host_([&] { far_->compute({hierarchy_.theta, square_reach()}, numbers); });
    GroupLists lists(tree_.threads());
    double count = 0;
    for (const Group& g : chosen) count += static_cast<double>(g.count);
    for (std::span<const Group> left = chosen; !left.empty();)
      left = left.subspan(lists.make(left, hierarchy_));
    const double length = lists.pairs / std::max(1.0, count);
    costs_.spent += costs_.of.lists(static_cast<double>(chosen.size()), length);
    if (far_) costs_.spent += costs_.of.expansions(count, far_->degree());
    counted_length_ = length;
    return length;
  }
  std::size_t samples() const {
    return std::min(samples_for(options_, wants_expansions()), in_.n_targets);
  }
  /// The direct sums of the sample; nothing once they have been computed.
  double cost_of_sample() const {
    return sample_ ? 0 : static_cast<double>(samples()) * static_cast<double>(in_.n_sources);
  }
  double lists_of_trial() const {
    if (!trial_groups_.empty()) return static_cast<double>(trial_groups_.size());
    return static_cast<double>(blocks_of_sample(samples(), samples_of_list(in_)));
  }

  /// Degree and theta by the errors of the sample; false if direct sums are faster or needed.
  bool choose_for_sample() {
    make_trial_groups();
    if (far_) {
      if (choose_expansion()) return true;
      if (options_.method == TreeMethod::Expansion) return false;
      far_.reset();
      if (!proxies_can_pay()) return false;
      make_trial_groups();
    }
    return choose_proxies();
  }

  /// Computes the groups of this process, of all with these numbers, and joins the results of all
  /// processes.
  void sum_all(std::span<const std::uint32_t> numbers) {
    if (share_ == nullptr) return sum(sums_, groups_, numbers);
    const std::string name = "sums with a tree of degree " + std::to_string(degree()) +
                             " and theta " + std::to_string(hierarchy_.theta);
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

  /// The degree of expansions; 0: there are none.
  unsigned harmonics() const { return far_ ? far_->degree() : 0; }
  unsigned degree() const { return far_ ? far_->degree() : proxies_.back().degree; }
  static std::size_t or_default(std::size_t value, std::size_t otherwise) {
    return value > 0 ? value : otherwise;
  }

  /// Gives targets that are sources the numbers of these in the order of the tree.
  void number_targets() {
    std::vector<std::uint32_t> place(tree_.size());
    for_particles(tree_,
                  [&](std::size_t k, std::size_t i) { place[i] = static_cast<std::uint32_t>(k); });
    for_particles(*target_tree_, [&](std::size_t k, std::size_t i) {
      all_.at[k].id = place[in_.target_source[i]];
    });
  }

  void take_softening() {
    source_square_ = in_order(tree_, in_.source_square);
    all_.square = in_order(targets(), in_.target_square);
    cluster_softening_ = softening_of(tree_, source_square_, mass_);
    softening_ = {0, cluster_softening_, all_.square};
    sums_.source_square = trial_sums_.source_square = source_square_;
  }
  /// Proxies have the mean of their cluster.
  void set_softening_of_proxies() {
    source_square_.resize(sources_.size());
    for (const Proxies& kind : proxies_)
      for (std::size_t q = 0; q < kind.first.size(); ++q)
        if (kind.first[q] != Proxies::none)
          std::fill_n(&source_square_[kind.first[q]], kind.points, cluster_softening_[q].mean);
    sums_.source_square = trial_sums_.source_square = source_square_;
  }

  static std::vector<Source> targets_of(const Octree& tree) {
    std::vector<Source> all = particles_of(tree, std::vector<double>(tree.size()));
    for (Source& s : all) s.id = -1;
    return all;
  }

  static std::size_t group_size_of(const GravityInput& in, const TreeOptions& options) {
    const bool expansions = expansions_are_wanted(in, options, charges_cancel(in));
    return or_default(options.group_size, expansions ? groups_of_expansions : groups_of_proxies);
  }
  std::size_t group_size() const {
    return or_default(options_.group_size,
                      wants_expansions() ? groups_of_expansions : groups_of_proxies);
  }
  std::size_t leaf_size() const {
    return or_default(options_.leaf_size, wants_expansions() ? 64 : 24);
  }

  void make_groups(std::span<const Group> groups) {
    groups_.assign(groups.begin(), groups.end());
    for (Group& g : groups_) g.softening = softening_.most_of_targets(g.first, g.count);
  }
  /// Divides the targets of the sample, which get the boxes of their groups.
  void make_trial_groups() {
    trial_groups_.clear();
    numbers_of_trial_.clear();
    std::uint32_t g = 0;
    for (std::size_t k = 0; k < sample_->places().size(); ++k) {
      while (groups_[g].first + groups_[g].count <= sample_->places()[k]) ++g;
      if (numbers_of_trial_.empty() || numbers_of_trial_.back() != g) {
        trial_groups_.push_back({k, 0, groups_[g].box, groups_[g].begin, groups_[g].softening});
        numbers_of_trial_.push_back(g);
      }
      ++trial_groups_.back().count;
    }
  }

  /// Computes some groups of targets, which are parts of the groups with these numbers.
  void sum(GroupSums& sums, std::span<const Group> some, std::span<const std::uint32_t> numbers) {
    const Stopwatch expansions;
    if (far_) host_([&] { far_->compute({hierarchy_.theta, square_reach()}, numbers); });
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

  /// The square of the distance, in softening lengths, at which softening changes potentials by
  /// less than the accuracy. A cluster at that distance has a small part of an acceleration.
  double square_reach() const {
    return 0.3 / (options_.theta > 0 && !keeps_accuracy_ ? 1e-5 : options_.accuracy);
  }

  bool wants_expansions() const { return expansions_are_wanted(in_, options_, charges_cancel_); }

  void use_degree(int degree) {
    const auto used =
        static_cast<unsigned>(std::clamp<int>(degree, least_harmonics, most_harmonics));
    if (far_->degree() == used) return;
    host_([&] { far_->set_degree(used); });
    costs_.spent += costs_.of.multipoles(static_cast<double>(in_.n_sources), used);
  }

  /// Chooses the degree of the expansions, and a theta if the largest does not suffice. False if
  /// softening or accuracy leave too much to pairs.
  bool choose_expansion() {
    const double wanted = accuracy_of_sample * options_.accuracy;
    hierarchy_ = {&tree_, moments_, {}, options_.theta, softening_};
    const auto steps_for = [](double ratio) {
      return static_cast<int>(std::ceil(std::log(ratio) / std::log(error_of_degree)));
    };
    if (options_.degree > 0) {
      use_degree(static_cast<int>(options_.degree));
      if (options_.theta > 0) return true;
      hierarchy_.theta = theta_of_expansions;
      return find_theta() && fast_enough();
    }
    // The trial of a small degree is left out where both cost too much.
    const unsigned usual = usual_degree(options_.accuracy);
    use_degree(static_cast<int>(degree_of_trial));
    if (options_.theta > 0) return true;
    const double length = expected_length();
    if (!costs_.affordable(cost_of_trial(length) + cost_of_trial(length, usual)))
      use_degree(static_cast<int>(usual));
    double before = 1;
    for (unsigned attempt = 0; attempt < 4; ++attempt) {
      const double error = error_with(theta_of_expansions);
      if (!pairs_are_few(pairs_of_sample())) return false;
      if (error <= wanted) return fast_enough();
      if (far_->degree() == most_harmonics)
        return find_theta(error) && pairs_are_few(pairs_of_sample()) && fast_enough();
      if (!std::isfinite(error)) break;
      // The softening of clusters, which a higher degree does not have: closer ones are summed.
      if (error > 0.8 * before)
        return options_.method == TreeMethod::Expansion && find_theta(error) && fast_enough();
      before = error;
      const int next = static_cast<int>(far_->degree()) + steps_for(0.9 * wanted / error);
      const auto most = static_cast<int>(most_harmonics);
      if (costs_.affordable(
              cost_of_trial(pairs_of_sample(), static_cast<unsigned>(std::min(next, most))))) {
        use_degree(next);
        continue;
      }
      // Without a trial, with one degree more: the sum measures its error, too. Not with a
      // softening, whose errors a higher degree does not have: a second sum takes as long as direct
      // sums.
      const bool softened = in_.softening > 0 || softening_.of_each();
      if (next >= most || softened) return false;
      use_degree(next + 1);
      return fast_enough();
    }
    return find_theta() && pairs_are_few(pairs_of_sample()) && fast_enough();
  }

  double pairs_of_sample() const {
    return trial_sums_.lists.pairs / static_cast<double>(sample_->places().size());
  }
  double cost_of_trial(double length) const { return cost_of_trial(length, harmonics()); }
  double cost_of_trial(double length, unsigned harmonics) const {
    return costs_.trial(lists_of_trial(), length, harmonics);
  }
  /// Whether a softening leaves so few pairs that proxies take longer, of which they need about
  /// 300 / sqrt(accuracy).
  bool pairs_are_few(double pairs) const {
    return options_.method == TreeMethod::Expansion ||
           pairs < std::max(5000.0, 150 / std::sqrt(options_.accuracy));
  }

  /// Chooses degree and theta of proxies.
  bool choose_proxies() {
    for (const unsigned degree : degrees()) {
      const double more = costs_.proxies(degree);
      if (options_.theta == 0 && !costs_.affordable(more + first_trial_of_proxies())) return false;
      costs_.spent += more;
      host_([&] { set_degree(degree); });
      if (options_.theta > 0) {
        hierarchy_.theta = options_.theta;
        return true;
      }
      if (find_theta()) return fast_enough();
      if (options_.method != TreeMethod::Auto && options_.degree != 0) break;
    }
    return false;
  }

  /// The degrees to try, in this order.
  std::vector<unsigned> degrees() const {
    if (options_.method == TreeMethod::Monopole) return {1};
    if (options_.degree > 0) return {options_.degree};
    const bool multipoles = options_.method == TreeMethod::Multipole || has_jerk();
    unsigned first = multipoles ? least_degree : 1;
    first = std::max(first, first_choice(options_.accuracy).degree);
    std::vector<unsigned> all;
    for (unsigned degree = first; degree <= largest_degree; ++degree) all.push_back(degree);
    return all;
  }

  void set_degree(unsigned degree) {
    sources_.resize(in_.n_sources);
    proxies_.clear();
    proxies_.push_back(add_monopoles(tree_, moments_, sources_));
    // Fewer points do for clusters that are further away.
    for (unsigned d = least_degree; d <= degree; ++d)
      proxies_.push_back(add_multipoles(tree_, moments_, d, sources_));
    hierarchy_ = {&tree_, moments_, proxies_, first_choice(options_.accuracy).theta, softening_};
    if (!costs_.affordable(2 * first_trial_of_proxies())) hierarchy_.theta *= careful;
    if (softening_.of_each()) set_softening_of_proxies();
    if (!has_jerk()) return;
    // Jerks lack the derivative of the quadrupole, which has one distance less.
    if (degree > 1) proxies_.front().degree = 0;
    source_velocity_ = velocities_of(tree_, moments_, proxies_, particle_velocity_, sources_);
    sums_.source_velocity = trial_sums_.source_velocity = source_velocity_;
  }

  double error_with(double theta) {
    hierarchy_.theta = theta;
    sum(trial_sums_, trial_groups_, numbers_of_trial_);
    costs_.spent += cost_of_trial(pairs_of_sample());
    costs_.expect(pairs_of_sample(), harmonics());
    return sample_->error_of(trial_.rows).bound;
  }

  /// The length of lists before the first trial: counted ones, or the usual one.
  double expected_length() const {
    if (counted_length_ > 0) return counted_length_;
    return std::min(usual_length(options_.accuracy, far_.has_value()),
                    static_cast<double>(in_.n_sources));
  }
  double first_trial_of_proxies() const { return cost_of_trial(expected_length()); }

  /// The largest theta, within a tenth, with which the bound of the error is small enough, or one
  /// that is smaller if further trials cost too much. False if there is none. `known` is the bound
  /// with the theta of the hierarchy, if it is too large.
  bool find_theta(double known = 0) {
    const double wanted = accuracy_of_sample * options_.accuracy;
    const double power = 1.0 / (degree() + 1.5);
    double good = 0, bad = largest_theta * 1.1, theta = hierarchy_.theta;
    for (unsigned attempt = 0; attempt < 8 && theta > smallest_theta; ++attempt) {
      const bool is_known = known > 0 && attempt == 0;
      const double length = attempt > 0 || known > 0 ? pairs_of_sample() : expected_length();
      if (!is_known && !costs_.affordable(cost_of_trial(length))) break;
      const double error = is_known ? known : error_with(theta);
      (error <= wanted ? good : bad) = theta;
      const double growth = std::pow(0.9 * wanted / error, power);
      const bool near = error <= wanted && growth < 1.1;
      if (good > 0 && (near || bad < 1.1 * good || good == largest_theta)) break;
      double next = theta * std::clamp(growth, 0.5, 1.5);
      if (error == 0) next = 1.5 * theta;
      if (!(next > good && next < bad) || attempt > 3)
        next = good > 0 ? std::sqrt(good * bad) : 0.6 * theta;
      theta = std::min(next, largest_theta);
    }
    hierarchy_.theta = good;
    return good > 0;
  }

  /// Whether the tree takes less time than direct sums, by the lengths of the sample's lists with
  /// the theta of the last attempt.
  bool fast_enough() const { return costs_.is_fast(pairs_of_sample(), harmonics()); }

  const HostSteps& host_;
  const GravityInput& in_;
  const TreeOptions& options_;
  GroupShare* share_;  ///< null: one process
  ChoiceCosts costs_;
  bool charges_cancel_;
  bool keeps_accuracy_;  ///< whether softening is judged by the accuracy, although theta is given
  Octree tree_;
  std::optional<Octree> target_tree_;
  std::vector<double> mass_;
  std::vector<Moments> moments_;
  std::vector<Source> sources_;  ///< with their proxies
  std::vector<Proxies> proxies_;
  std::vector<double> source_square_;  ///< softening of each particle, with that of proxies
  std::vector<ClusterSoftening> cluster_softening_;
  SquareSoftening softening_;
  std::vector<Velocity> particle_velocity_;
  std::vector<Velocity> source_velocity_;  ///< with those of proxies
  TargetRows all_, trial_;                 ///< trial: those of the sample
  GroupSums sums_, trial_sums_;
  std::optional<FarField> far_;
  double expansion_seconds_ = 0;
  std::vector<Group> groups_, trial_groups_;
  std::vector<std::uint32_t> numbers_of_trial_;  ///< of the groups
  double counted_length_ = 0;                    ///< of lists before the first trial
  std::optional<Sample> sample_, jerk_sample_;
  const DirectSums* direct_ = nullptr;
  Hierarchy hierarchy_;
  SampleError error_;
};

/// The sum with options that do not refer to an earlier one.
TreeReport compute_once(SetJob& job, const GravityInput& input, const TreeOptions& options,
                        bool keeps_accuracy, unsigned threads, const DirectSums& direct,
                        const DirectSums& direct_jerk, const GravityResults& results,
                        const HostSteps& host, GroupShare* share) {
  if (options.method == TreeMethod::Expansion && input.source_velocity != nullptr)
    throw Error(ErrorCategory::Usage,
                "TreeOptions: expansions have no jerks; choose TreeMethod::Multipole or Auto");
  if (options.method == TreeMethod::Direct || input.n_targets == 0 || input.n_sources == 0 ||
      !in_range(input, threads) || !tree_is_affordable(input, options))
    return {};
  TreeReport report;
  std::optional<GravityTree> made;
  {
    const AddElapsed timer(report.build_seconds);
    in_step(share, "a tree", [&] {
      host([&] { made.emplace(job, input, options, keeps_accuracy, threads, host, share); });
    });
  }
  GravityTree& tree = *made;
  bool found = false;
  {
    const AddElapsed timer(report.choice_seconds);
    found = tree.choose(direct, direct_jerk);
  }
  if (!found) return report;
  tree.reset_times();
  if (!tree.compute()) return report;
  tree.write(results);
  TreeReport computed = tree.report();
  computed.build_seconds = report.build_seconds;
  computed.choice_seconds = report.choice_seconds;
  return computed;
}

}  // namespace

TreeReport compute_with_tree(SetJob& job, const GravityInput& input, const TreeOptions& options,
                             unsigned threads, const DirectSums& direct,
                             const DirectSums& direct_jerk, const GravityResults& results,
                             const HostSteps& host, GroupShare* share) {
  const auto compute = [&](const TreeOptions& o, bool keeps_accuracy) {
    return compute_once(job, input, o, keeps_accuracy, threads, direct, direct_jerk, results, host,
                        share);
  };
  if (options.earlier == nullptr) return compute(options, false);
  if (options.earlier->method == TreeMethod::Direct) return {};
  // Jerks need proxies.
  if (options.earlier->method != TreeMethod::Expansion || input.source_velocity == nullptr) {
    const TreeReport report = compute(with_earlier_choice(options), true);
    if (report.method != TreeMethod::Direct && report.error <= options.accuracy) return report;
  }
  return compute(with_new_choice(options), false);
}

}  // namespace gdr::tree
