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
/// Targets with a common list.
constexpr std::size_t groups_of_proxies = 256;

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
        sources_(particles_of(tree_, mass_)) {
    if (!in_.same) {
      target_tree_.emplace(in_.n_targets, in_.target, group_size(), threads);
      others_ = targets_of(*target_tree_);
      if (in_.target_source != nullptr) number_targets();
    } else {
      others_ = sources_;
    }
    rows_.resize(in_.n_targets);
    sums_.emplace(job, others_, rows_, threads);
    softening_.all = in_.softening * in_.softening;
    if (in_.softening_of_each) take_softening();
    if (has_jerk()) {
      particle_velocity_ = velocities_in_order(tree_, in_.source_velocity);
      if (!in_.same) target_velocity_ = velocities_in_order(*target_tree_, in_.target_velocity);
      jerks_.resize(in_.n_targets);
    }
  }

  const Octree& targets() const { return in_.same ? tree_ : *target_tree_; }

  bool has_jerk() const { return in_.source_velocity != nullptr; }

  /// Chooses degree and theta; false if direct sums are faster or needed.
  bool choose(const DirectSums& direct, const DirectSums& direct_jerk) {
    const std::size_t samples = samples_for(options_, wants_expansions());
    direct_ = &direct;
    sample_.emplace(targets(), samples, direct);
    costs_.samples = static_cast<double>(sample_->places().size());
    costs_.spent = costs_.of.build(static_cast<double>(in_.n_sources + in_.n_targets)) +
                   costs_.samples * static_cast<double>(in_.n_sources);
    if (has_jerk()) jerk_sample_.emplace(targets(), samples, direct_jerk);
    bool found = false;
    in_step(share_, "choice of a tree", [&] { found = choose_for_sample(); });
    return found;
  }

  /// Computes all targets, with a smaller theta as long as the error is too large.
  bool compute() {
    std::vector<std::uint32_t> all(groups_.size());
    std::iota(all.begin(), all.end(), 0);
    sums_->progress = options_.progress;
    for (;;) {
      sum_all(all);
      error_ = sample_->error_of(rows_);
      measure_small_accelerations();
      // Direct sums name the particle with an acceleration that is not finite.
      if (!std::isfinite(error_.rms)) return false;
      if (options_.theta > 0 || error_.rms <= options_.accuracy) return true;
      const double smaller =
          std::pow(accuracy_of_sample * options_.accuracy / error_.rms, 1.0 / (degree() + 1.5));
      const double step = std::clamp(smaller, 0.5, 0.8);
      hierarchy_.theta *= step;
      // Lists grow by more than the square of the distances.
      const double pairs = sums_->lists.pairs / static_cast<double>(rows_.size());
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
      if (to.potential != nullptr) to.potential[i] = rows_[k].pot;
      if (to.acceleration != nullptr) write_vector(rows_[k], to.acceleration + 3 * i);
      if (to.jerk != nullptr) write_vector(jerks_[k], to.jerk + 3 * i);
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
    if (has_jerk()) r.jerk_error = jerk_sample_->error_of(jerks_).rms;
    r.samples = sample_->places().size();
    r.clusters = tree_.clusters().size();
    r.groups = groups_.size();
    r.sources_per_target =
        sums_->lists.pairs / static_cast<double>(std::max<std::size_t>(1, rows_.size()));
    r.list_seconds = sums_->list_seconds;
    r.force_seconds = sums_->force_seconds;
    return r;
  }

  void reset_times() { expansion_seconds_ = sums_->list_seconds = sums_->force_seconds = 0; }

 private:
  /// Adds the errors of a second sample: few targets with small accelerations may have most of
  /// them.
  void measure_small_accelerations() {
    if (sample_->places().size() == rows_.size()) return;
    const Sample small(targets(), rows_, small_samples, *direct_);
    error_ = sample_->error_with(small, rows_);
  }

  /// Degree and theta by the errors of the sample; false if direct sums are faster or needed.
  bool choose_for_sample() {
    if (wants_expansions() && costs_.usually_pays(true)) {
      far_.emplace(tree_, moments_, mass_, softening_, targets(), group_size());
      make_groups(far_->groups());
      if (choose_expansion()) return true;
      if (options_.method == TreeMethod::Expansion) return false;
      far_.reset();
    }
    if (!costs_.usually_pays(false)) return false;
    make_groups(targets().groups(or_default(options_.group_size, groups_of_proxies)));
    return choose_proxies();
  }

  /// Computes the groups of this process, of all with these numbers, and joins the results of all
  /// processes.
  void sum_all(std::span<const std::uint32_t> numbers) {
    if (share_ == nullptr) return sum(groups_, numbers);
    const std::string name = "sums with a tree of degree " + std::to_string(degree()) +
                             " and theta " + std::to_string(hierarchy_.theta);
    share_->step(name, [&] {
      const std::span<const Group> own = share_->own(groups_);
      sums_->lists.pairs = 0;
      if (own.empty()) return;
      const auto first = static_cast<std::size_t>(own.data() - groups_.data());
      sum(own, numbers.subspan(first, own.size()));
    });
    share_->join(groups_, rows_.data(), sizeof(ResultRow), rows_.size());
    if (has_jerk()) share_->join(groups_, jerks_.data(), sizeof(ResultRow), jerks_.size());
    sums_->lists.pairs = share_->add_pairs(sums_->lists.pairs);
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
      others_[k].id = place[in_.target_source[i]];
    });
  }

  void take_softening() {
    source_square_ = in_order(tree_, in_.source_square);
    target_square_ = in_order(targets(), in_.target_square);
    cluster_softening_ = softening_of(tree_, source_square_, mass_);
    softening_ = {0, cluster_softening_, target_square_};
    sums_->softened = {target_square_, source_square_};
  }
  /// Proxies have the mean of their cluster.
  void set_softening_of_proxies() {
    source_square_.resize(sources_.size());
    for (const Proxies& kind : proxies_)
      for (std::size_t q = 0; q < kind.first.size(); ++q)
        if (kind.first[q] != Proxies::none)
          std::fill_n(&source_square_[kind.first[q]], kind.points, cluster_softening_[q].mean);
    sums_->softened.sources = source_square_;
  }

  static std::vector<Source> targets_of(const Octree& tree) {
    std::vector<Source> all = particles_of(tree, std::vector<double>(tree.size()));
    for (Source& s : all) s.id = -1;
    return all;
  }

  static std::size_t group_size_of(const GravityInput& in, const TreeOptions& options) {
    const bool expansions = expansions_are_wanted(in, options, charges_cancel(in));
    return or_default(options.group_size, expansions ? 64 : groups_of_proxies);
  }
  std::size_t group_size() const {
    return or_default(options_.group_size, wants_expansions() ? 64 : groups_of_proxies);
  }
  std::size_t leaf_size() const {
    return or_default(options_.leaf_size, wants_expansions() ? 64 : 24);
  }

  /// Divides the targets, and those of the sample, which get the boxes of their groups.
  void make_groups(std::span<const Group> groups) {
    groups_.assign(groups.begin(), groups.end());
    for (Group& g : groups_) g.softening = softening_.most_of_targets(g.first, g.count);
    sample_groups_.clear();
    groups_of_sample_.clear();
    std::uint32_t g = 0;
    for (const std::uint32_t place : sample_->places()) {
      while (groups_[g].first + groups_[g].count <= place) ++g;
      sample_groups_.push_back({place, 1, groups_[g].box, groups_[g].begin, groups_[g].softening});
      groups_of_sample_.push_back(g);
    }
  }

  /// Computes some groups of targets, which are parts of the groups with these numbers.
  void sum(std::span<const Group> some, std::span<const std::uint32_t> numbers) {
    const Stopwatch expansions;
    if (far_) host_([&] { far_->compute({hierarchy_.theta, square_reach()}, numbers); });
    expansion_seconds_ += expansions.seconds();
    sums_->lists.pairs = 0;
    sums_->compute(some, hierarchy_, sources_);
    if (!far_) return;
    const Stopwatch evaluation;
    host_([&] {
      for_blocks(some.size(), 8, tree_.threads(), [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k)
          far_->add(numbers[k], some[k].first, some[k].count, rows_);
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

  /// Chooses the degree of the expansions, and a theta if the largest does not suffice. False if
  /// softening or accuracy leave too much to pairs.
  bool choose_expansion() {
    const double wanted = accuracy_of_sample * options_.accuracy;
    hierarchy_ = {&tree_, moments_, {}, options_.theta, softening_};
    const auto steps_for = [](double ratio) {
      return static_cast<int>(std::ceil(std::log(ratio) / std::log(error_of_degree)));
    };
    const auto use_degree = [&](int degree) {
      host_([&] {
        far_->set_degree(
            static_cast<unsigned>(std::clamp<int>(degree, least_harmonics, most_harmonics)));
      });
      costs_.spent += costs_.of.multipoles(static_cast<double>(in_.n_sources), far_->degree());
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
    const double length = costs_.usual_length(true);
    const double first = costs_.trial(length, harmonics());
    if (!costs_.affordable(first + costs_.trial(length, usual)))
      use_degree(static_cast<int>(usual));
    if (!costs_.affordable(costs_.trial(length, harmonics()))) return false;
    if (options_.method == TreeMethod::Auto) {
      const double pairs = pairs_of_few_groups();
      if (!pairs_are_few(pairs) || !costs_.pays(pairs, usual)) return false;
    }
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
              costs_.trial(pairs_of_sample(), static_cast<unsigned>(std::min(next, most))))) {
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
    return sums_->lists.pairs / static_cast<double>(sample_groups_.size());
  }
  /// Whether a softening leaves so few pairs that proxies take longer, of which they need about
  /// 300 / sqrt(accuracy).
  bool pairs_are_few(double pairs) const {
    return options_.method == TreeMethod::Expansion ||
           pairs < std::max(5000.0, 150 / std::sqrt(options_.accuracy));
  }

  /// The mean length of the lists of a few groups, at the usual theta: softening may leave so many
  /// pairs that a trial of the whole sample would take as long as the direct sums.
  double pairs_of_few_groups() {
    constexpr std::size_t few = 16;
    std::vector<Group> groups;
    std::vector<std::uint32_t> numbers;
    const std::size_t step = divide_up(sample_groups_.size(), few);
    for (std::size_t k = step / 2; k < sample_groups_.size(); k += step) {
      groups.push_back(sample_groups_[k]);
      numbers.push_back(groups_of_sample_[k]);
    }
    hierarchy_.theta = theta_of_expansions;
    sum(groups, numbers);
    const auto count = static_cast<double>(groups.size());
    const double pairs = sums_->lists.pairs / count;
    costs_.spent += costs_.of.trial(count, pairs) +
                    costs_.of.expansions(count * static_cast<double>(group_size()), far_->degree());
    return pairs;
  }

  /// Chooses degree and theta of proxies.
  bool choose_proxies() {
    for (const unsigned degree : degrees()) {
      // Pseudo-particles take about as long as the tree.
      costs_.spent += costs_.of.build(static_cast<double>(in_.n_sources));
      if (options_.theta == 0 && !costs_.affordable(first_trial_of_proxies())) return false;
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
    sums_->motion = {in_.same ? particle_velocity_ : target_velocity_, source_velocity_, jerks_};
  }

  double error_with(double theta) {
    hierarchy_.theta = theta;
    sum(sample_groups_, groups_of_sample_);
    costs_.spent += costs_.trial(pairs_of_sample(), harmonics());
    return sample_->error_of(rows_).bound;
  }

  double first_trial_of_proxies() const { return costs_.trial(costs_.usual_length(false), 0); }

  /// The largest theta, within a tenth, with which the bound of the error is small enough, or one
  /// that is smaller if further trials cost too much. False if there is none. `known` is the bound
  /// with the theta of the hierarchy, if it is too large.
  bool find_theta(double known = 0) {
    const double wanted = accuracy_of_sample * options_.accuracy;
    const double power = 1.0 / (degree() + 1.5);
    double good = 0, bad = largest_theta * 1.1, theta = hierarchy_.theta;
    for (unsigned attempt = 0; attempt < 8 && theta > smallest_theta; ++attempt) {
      const bool is_known = known > 0 && attempt == 0;
      const double length =
          attempt > 0 || known > 0 ? pairs_of_sample() : costs_.usual_length(far_.has_value());
      if (!is_known && !costs_.affordable(costs_.trial(length, harmonics()))) break;
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
  std::vector<Source> sources_, others_;  ///< sources with their proxies; targets
  std::vector<Proxies> proxies_;
  // With softening of each particle: squares in the order of the trees, those of proxies, too.
  std::vector<double> source_square_, target_square_;
  std::vector<ClusterSoftening> cluster_softening_;
  SquareSoftening softening_;
  std::vector<Velocity> particle_velocity_, target_velocity_;
  std::vector<Velocity> source_velocity_;  ///< with those of proxies
  std::vector<ResultRow> rows_, jerks_;
  std::optional<GroupSums> sums_;
  std::optional<FarField> far_;
  double expansion_seconds_ = 0;
  std::vector<Group> groups_, sample_groups_;
  std::vector<std::uint32_t> groups_of_sample_;
  std::optional<Sample> sample_, jerk_sample_;
  const DirectSums* direct_ = nullptr;
  Hierarchy hierarchy_;
  SampleError error_;
};

/// The sum with options that do not refer to an earlier one.
std::optional<TreeReport> compute_once(SetJob& job, const GravityInput& input,
                                       const TreeOptions& options, bool keeps_accuracy,
                                       unsigned threads, const DirectSums& direct,
                                       const DirectSums& direct_jerk, const GravityResults& results,
                                       const HostSteps& host, GroupShare* share) {
  if (options.method == TreeMethod::Expansion && input.source_velocity != nullptr)
    throw Error(ErrorCategory::Usage,
                "TreeOptions: expansions have no jerks; choose TreeMethod::Multipole or Auto");
  if (options.method == TreeMethod::Direct || input.n_targets == 0 || input.n_sources == 0 ||
      !in_range(input, threads))
    return {};
  const bool chosen = options.theta > 0 || options.method != TreeMethod::Auto;
  if (!chosen && !choice_is_affordable(input, options)) return {};
  const Stopwatch build;
  std::optional<GravityTree> made;
  in_step(share, "a tree", [&] {
    host([&] { made.emplace(job, input, options, keeps_accuracy, threads, host, share); });
  });
  GravityTree& tree = *made;
  const double build_seconds = build.seconds();
  const Stopwatch choice;
  if (!tree.choose(direct, direct_jerk)) return {};
  tree.reset_times();
  const double choice_seconds = choice.seconds();
  if (!tree.compute()) return {};
  tree.write(results);
  TreeReport report = tree.report();
  report.build_seconds = build_seconds;
  report.choice_seconds = choice_seconds;
  return report;
}

}  // namespace

std::optional<TreeReport> compute_with_tree(SetJob& job, const GravityInput& input,
                                            const TreeOptions& options, unsigned threads,
                                            const DirectSums& direct, const DirectSums& direct_jerk,
                                            const GravityResults& results, const HostSteps& host,
                                            GroupShare* share) {
  const auto compute = [&](const TreeOptions& o, bool keeps_accuracy) {
    return compute_once(job, input, o, keeps_accuracy, threads, direct, direct_jerk, results, host,
                        share);
  };
  if (options.earlier == nullptr) return compute(options, false);
  if (options.earlier->method == TreeMethod::Direct) return {};
  // Jerks need proxies.
  if (options.earlier->method != TreeMethod::Expansion || input.source_velocity == nullptr) {
    const auto report = compute(with_earlier_choice(options), true);
    if (report && report->error <= options.accuracy) return report;
  }
  return compute(with_new_choice(options), false);
}

}  // namespace gdr::tree
