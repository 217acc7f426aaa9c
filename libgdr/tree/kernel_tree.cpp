#include "libgdr/tree/kernel_tree.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/tree/kernel_particles.hpp"
#include "libgdr/tree/legendre.hpp"
#include "libgdr/tree/opening.hpp"
#include "libgdr/tree/sample.hpp"
#include "libgdr/tree/tree_costs.hpp"

namespace gdr::tree {
namespace {

/// Of given and chosen ones: closer clusters have large errors at a few targets next to them, which
/// a sample does not show.
constexpr double max_theta = 0.75, min_theta = 0.05, largest_ratio = 0.8;
/// Coordinates and sums of charges beyond these leave no room for squares and for other factors.
constexpr double max_coordinate = 1e150, max_charge = 1e200;
/// Pairs of direct sums that take as long as the share of a particle in the charge of a point.
constexpr double pairs_for_point = 2;
/// The smallest degree of several. Degree 1 saves less than its errors cost.
constexpr unsigned min_kind = 2;
/// Below these numbers of targets and of pairs the choice of a tree takes longer than direct sums.
constexpr std::size_t fewest_targets = 1000;
constexpr double fewest_pairs = 6.4e7;
constexpr std::size_t default_leaf = 32, default_group = 192, default_samples = 256;

/// The degree to try first for an accuracy: with most laws, theta is then between these limits,
/// where no other degree has much shorter lists (bench/python_kernel_tree.py --degree).
unsigned first_degree(double accuracy) {
  constexpr std::array<double, 5> least{5e-4, 5e-5, 1e-5, 3e-6, 1e-6};  // of degrees 2 to 6, then 7
  unsigned degree = 2;
  for (const double limit : least) degree += accuracy < limit ? 1 : 0;
  return degree;
}
constexpr double small_theta = 0.5, large_theta = 0.72, usual_theta = 0.62;

std::size_t or_default(std::size_t value, std::size_t otherwise) {
  return value > 0 ? value : otherwise;
}

std::vector<std::uint32_t> identity(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

class KernelTree {
 public:
  KernelTree(SetJob& job, const KernelForm& form, const KernelInput& input,
             const TreeSumOptions& options, unsigned threads, GroupShare* share)
      : form_(form),
        input_(input),
        options_(options),
        share_(share),
        particles_(form, input, threads),
        tree_(input.source_pos.size() / 3, input.source_pos.data(),
              or_default(options.leaf_size, default_leaf), threads),
        boxes_(boxes_of(tree_)),
        sources_(particles_.sources(tree_.order())),
        sums_(job, threads) {
    const std::size_t group_size = or_default(options.group_size, default_group);
    if (!input.same)
      target_tree_.emplace(input.target_pos.size() / 3, input.target_pos.data(), group_size,
                           threads);
    targets_ = particles_.targets(targets().order());
    groups_ = targets().groups(group_size);
    for (const ResultVector& vector : form.vectors)
      if (std::ranges::any_of(vector.members, [&](std::size_t k) { return is_wanted(k); }))
        vectors_.push_back(vector);
    for (const ComparedNumbers& n : form.charges.numbers)
      proxy_numbers_.push_back(unused_number(column_named(targets_.inputs, n.target).integers));
  }

  bool has_twins() const {
    return has_distant_twins(form_, targets_.inputs, sources_, targets_.size, tree_.size());
  }

  /// Whether sums of charges, and of products with them, are far from overflow.
  bool charges_fit() const {
    const auto fits = [&](const std::string& name, const std::string& factor) {
      const std::vector<double>& a = column_named(sources_, name).numbers;
      const std::vector<double>& b = column_named(sources_, factor).numbers;
      double sum = 0, product = 0;
      for (std::size_t k = 0; k < tree_.size(); ++k) {
        sum += std::abs(a[k]);
        product += std::abs(a[k]) * std::abs(b[k]);
      }
      return sum < max_charge && (name == factor || product < max_charge);
    };
    const KernelCharges& c = form_.charges;
    return std::ranges::all_of(c.charges, [&](const std::string& q) { return fits(q, q); }) &&
           std::ranges::all_of(c.carried,
                               [&](const CarriedVariable& v) { return fits(v.name, v.charge); });
  }

  /// Chooses degree and theta; false if direct sums are faster or needed.
  bool choose(std::string& reason) {
    bool chosen = options_.theta > 0 || options_.degree > 0;
    if (!chosen) {
      in_step(share_, "lengths of lists", [&] { chosen = can_pay(); });
      if (!chosen) {
        reason = "they are faster";
        return false;
      }
    }
    take_sample();
    in_step(share_, "choice of a tree", [&] { chosen = choose_for_sample(reason); });
    return chosen;
  }

  /// Computes all targets, with a smaller theta as long as the errors are too large.
  bool compute(std::string& reason) {
    sums_.list_seconds = sums_.sum_seconds = 0;
    for (;;) {
      sum_all();
      const AddElapsed timer(error_seconds_);
      add_largest();
      double error = 0;
      for (const ResultVector& vector : vectors_)
        error = std::max(error, sample_->error_of(vector, targets_.results, sample_->places()).rms);
      if (options_.theta > 0 || error <= options_.accuracy) return true;
      set_theta(0.8 * hierarchy_.theta);
      if (hierarchy_.theta < min_theta) break;
    }
    reason = "no tree is as accurate";
    return false;
  }

  void write() const {
    write_results(*input_.results_group, input_.results, targets().order(), tree_.threads(),
                  targets_.results);
  }

  TreeSumReport report() const {
    TreeSumReport r;
    r.degree = proxies_.back().degree;
    r.theta = hierarchy_.theta;
    for (const ResultVector& vector : vectors_) {
      const VectorError error = sample_->error_of(vector, targets_.results, sample_->places());
      r.results.push_back({vector.name, error.rms, error.largest});
      r.error = std::max(r.error, error.rms);
      r.largest_error = std::max(r.largest_error, error.largest);
    }
    r.samples = sample_->size();
    r.clusters = tree_.clusters().size();
    r.groups = groups_.size();
    r.sources_per_target = sums_.lists.pairs / static_cast<double>(targets_.size);
    r.list_seconds = sums_.list_seconds;
    r.sum_seconds = sums_.sum_seconds;
    r.error_seconds = error_seconds_;
    return r;
  }

 private:
  /// Degree and theta by the errors of the sample.
  bool choose_for_sample(std::string& reason) {
    if (options_.theta > 0) {
      set_degree(options_.degree > 0 ? options_.degree : first_degree(options_.accuracy));
      set_theta(options_.theta);
      return true;
    }
    const double entries = options_.degree > 0 ? with_degree(options_.degree) : with_best_degree();
    if (entries == 0) {
      reason = stopped_ ? "they are faster" : "no tree is as accurate";
      return false;
    }
    if (options_.degree == 0 && target_with(entries) > max_of_direct * sources()) {
      reason = "they are faster";
      return false;
    }
    return true;
  }

  /// Whether a tree may be faster than direct sums, by the lengths of lists with the degree that is
  /// tried first, which are counted before anything is computed.
  bool can_pay() {
    const unsigned degree = first_degree(options_.accuracy);
    spent_ = costs_.build(input_.same ? sources() : sources() + static_cast<double>(targets_.size));
    make_opening(charged_particles());
    const std::vector<Proxies> planned = plan_legendre(tree_, min_kind, degree);
    const std::vector<Moments> boxes =
        opening_->boxes_for(max_theta, degree, planned.front().points, largest_ratio);
    const Hierarchy hierarchy{&tree_, boxes, planned, max_theta, 0};
    std::vector<Group> some;
    const std::size_t step =
        divide_up(groups_.size(), std::clamp<std::size_t>(targets_.size / 1000, 12, 32));
    for (std::size_t k = step / 2; k < groups_.size(); k += step) some.push_back(groups_[k]);
    const double length = sums_.mean_length(some, hierarchy);
    sums_.lists.pairs = 0;
    spent_ += costs_.lists(static_cast<double>(some.size()), length);
    expect(length);
    const double choice =
        cost_of_proxies(degree) + costs_.sample(static_cast<double>(samples()) * sources());
    const double all = static_cast<double>(targets_.size);
    return choice + all * target_with(length) < max_of_direct * all * sources() &&
           affordable(choice + costs_.trial(lists_of_trial(), length));
  }
  double sources() const { return static_cast<double>(tree_.size()); }
  std::size_t samples() const {
    return std::min(or_default(options_.samples, default_samples), targets_.size);
  }
  /// Targets of the sample with a common list: more for few particles, whose lists are nearly as
  /// long as those of many.
  std::size_t samples_of_list() const { return targets_.size < 100'000 ? 8 : 4; }
  double lists_of_trial() const {
    return static_cast<double>(blocks_of_sample(samples(), samples_of_list()));
  }
  double cost_of_proxies(unsigned degree) const {
    double points = 0;
    for (unsigned d = std::min(min_kind, degree); d <= degree; ++d)
      points += static_cast<double>(legendre_size(tree_, d));
    return pairs_for_point * points * sources();
  }
  /// A target with a list of this length.
  double target_with(double length) const {
    return costs_.target() + TreeCosts::pair(false) * length;
  }
  void expect(double length) { saving_ = std::max(0.0, 1 - target_with(length) / sources()); }
  /// Whether a choice may cost so much more. Nothing is judged that the caller has chosen.
  bool affordable(double cost) const {
    const double direct = static_cast<double>(targets_.size) * sources();
    return options_.degree > 0 || spent_ + cost <= budget_of_choice(saving_, found_) * direct;
  }

  /// Computes the groups of this process, and joins the results of all processes.
  void sum_all() {
    sums_.lists.pairs = 0;
    in_step(share_,
            fmt::format("sums with a tree of degree {} and theta {}", proxies_.back().degree,
                        hierarchy_.theta),
            [&] {
              sums_.compute(
                  share_ != nullptr ? share_->own(groups_) : std::span<const Group>(groups_),
                  hierarchy_, sources_, targets_);
            });
    if (share_ == nullptr) return;
    join_results(*share_, groups_, targets_);
    sums_.lists.pairs = share_->add_pairs(sums_.lists.pairs);
  }

  const Octree& targets() const { return input_.same ? tree_ : *target_tree_; }

  bool is_wanted(std::size_t result) const {
    return std::ranges::any_of(input_.results, [&](const NamedResult& r) {
      const std::span<const LinkField> fields = fields_named(*input_.results_group, r.name);
      return std::ranges::find(fields, form_.results[result].name, &LinkField::name) !=
             fields.end();
    });
  }

  KernelTargets direct_sums(std::span<const std::uint32_t> places) {
    std::vector<std::uint32_t> items;
    for (const std::uint32_t place : places) items.push_back(targets().order()[place]);
    KernelTargets direct = particles_.targets(items);
    sums_.compute_directly(tree_.size(), sources_, direct, share_);
    return direct;
  }

  /// Random targets with their direct sums, in sets with the boxes of their groups.
  void take_sample() {
    SamplePlaces sample = sample_places(groups_, samples(), samples_of_list());
    const std::vector<std::uint32_t>& places = sample.places;
    std::size_t g = 0;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const bool next = k == 0 || groups_[g].first + groups_[g].count <= places[k];
      while (groups_[g].first + groups_[g].count <= places[k]) ++g;
      if (next) sample_groups_.push_back({k, 0, groups_[g].box});
      ++sample_groups_.back().count;
    }
    spent_ += costs_.sample(static_cast<double>(places.size()) * sources());
    trial_ = direct_sums(places);
    trial_rows_ = identity(places.size());
    sample_.emplace(std::move(sample), targets_.size, trial_.results);
  }

  /// Adds the targets with the largest results to the sample, once: a few that are close to a
  /// source, which random ones miss, may have most of the mean squares of results and errors.
  void add_largest() {
    constexpr std::size_t largest_of_each = 32;
    if (has_largest_ || sample_->is_whole()) return;
    has_largest_ = true;
    const double seconds = sums_.sum_seconds;
    const std::vector<std::uint32_t> places =
        largest_results(vectors_, targets_.results, targets_.size, largest_of_each);
    sample_->add(places, direct_sums(places).results);
    sums_.sum_seconds = seconds;
  }

  ChargedParticles charged_particles() {
    ChargedParticles particles;
    for (std::size_t c = 0; c < 3; ++c)
      particles.position[c] = &column_named(sources_, form_.source_pos[c]).numbers;
    for (const std::string& name : form_.charges.charges)
      particles.charges.push_back(&column_named(sources_, name).numbers);
    for (const CarriedVariable& v : form_.charges.carried) {
      const auto charge = std::ranges::find(form_.charges.charges, v.charge);
      particles.carried.push_back(
          {&column_named(sources_, v.name).numbers,
           static_cast<std::size_t>(charge - form_.charges.charges.begin())});
    }
    return particles;
  }
  void make_opening(const ChargedParticles& particles) {
    if (!opening_) opening_.emplace(tree_, boxes_, particles.charges);
  }

  void set_degree(unsigned degree) {
    const ChargedParticles particles = charged_particles();
    for (VariableColumn& column : sources_) column.resize(tree_.size());
    make_opening(particles);
    spent_ += cost_of_proxies(degree);
    proxies_ = add_legendre(tree_, std::min(min_kind, degree), degree, particles);
    const std::size_t rows = particles.position[0]->size();
    for (VariableColumn& column : sources_) column.resize(rows);
    for (std::size_t k = 0; k < proxy_numbers_.size(); ++k) {
      std::vector<std::int64_t>& numbers =
          column_named(sources_, form_.charges.numbers[k].source).integers;
      std::fill(numbers.begin() + static_cast<std::ptrdiff_t>(tree_.size()), numbers.end(),
                proxy_numbers_[k]);
    }
    hierarchy_ = {&tree_, scaled_, proxies_, hierarchy_.theta, 0};
  }

  void set_theta(double theta) {
    scaled_ =
        opening_->boxes_for(theta, proxies_.back().degree, proxies_.front().points, largest_ratio);
    hierarchy_.moments = scaled_;
    hierarchy_.theta = theta;
  }

  double error_with(double theta) {
    set_theta(theta);
    const double before = sums_.lists.pairs;
    sums_.compute(sample_groups_, hierarchy_, sources_, trial_);
    length_of_trial_ = (sums_.lists.pairs - before) / static_cast<double>(sample_->size());
    spent_ += costs_.trial(static_cast<double>(sample_groups_.size()), length_of_trial_);
    expect(length_of_trial_);
    return sample_->bound_of(vectors_, trial_.results, trial_rows_);
  }
  /// Finds the largest theta, within some percent, with which the bounds of the errors are small
  /// enough. Returns the mean length of lists; 0 if there is none.
  double find_theta() {
    double good = 0, bad = max_theta * 1.08, theta = std::min(hierarchy_.theta, max_theta);
    // Errors grow with this power of theta, until two of them show another.
    double power = 2.0 * proxies_.back().degree + 1, last_theta = 0, last_error = 0;
    for (unsigned attempt = 0; attempt < 8 && theta > min_theta; ++attempt) {
      const double lists = static_cast<double>(sample_groups_.size());
      stopped_ = attempt > 0 && !affordable(costs_.trial(lists, length_of_trial_));
      if (stopped_) break;
      const double error = error_with(theta);
      (error <= options_.accuracy ? good : bad) = theta;
      found_ = found_ || good > 0;
      if (good > 0 && (good >= max_theta || bad < 1.08 * good || error > 0.6 * options_.accuracy))
        break;
      if (last_error > 0 && error > 0)
        power = std::clamp(std::log(error / last_error) / std::log(theta / last_theta), 2.0, 40.0);
      last_theta = theta;
      last_error = error;
      double factor = 1.5;
      if (error > 0)
        factor = std::clamp(std::pow(0.8 * options_.accuracy / error, 1 / power), 0.5, 1.5);
      double next = std::min(theta * factor, max_theta);
      if (!(next > good && next < bad) || attempt > 4)
        next = good > 0 ? std::sqrt(good * bad) : 0.6 * theta;
      theta = std::min(next, max_theta);
    }
    if (good > 0) set_theta(good);
    return good > 0 ? sums_.mean_length(sample_groups_, hierarchy_) : 0;
  }

  double with_degree(unsigned degree) {
    set_degree(degree);
    return find_theta();
  }

  /// The degree that may have shorter lists than this one, by the theta of this one; 0: none.
  unsigned better_degree(unsigned degree) const {
    if (hierarchy_.theta < small_theta) return degree < max_legendre_degree ? degree + 1 : 0;
    return hierarchy_.theta > large_theta ? degree - 1 : 0;
  }

  /// A degree with short lists: the usual one, unless its theta shows that another is better.
  double with_best_degree() {
    unsigned degree = first_degree(options_.accuracy);
    double best = with_degree(degree);
    while (const unsigned next = better_degree(degree)) {
      // The proxies of this degree are made again if the next one is not better.
      stopped_ = !affordable(cost_of_proxies(next) + cost_of_proxies(degree) +
                             costs_.trial(lists_of_trial(), length_of_trial_));
      if (stopped_) break;
      const double theta = hierarchy_.theta;
      hierarchy_.theta = usual_theta;
      const double entries = with_degree(next);
      if (entries > 0 && (best == 0 || entries < best)) {
        best = entries;
        degree = next;
      } else if (best == 0) {
        degree = next;
      } else {
        set_degree(degree);
        set_theta(theta);
        break;
      }
    }
    return best;
  }

  const KernelForm& form_;
  const KernelInput& input_;
  const TreeSumOptions& options_;
  GroupShare* share_;  ///< null: one process
  KernelParticles particles_;
  Octree tree_;
  std::optional<Octree> target_tree_;
  std::vector<Moments> boxes_, scaled_;  ///< moments with their own radii; with those for walks
  std::optional<Opening> opening_;
  std::vector<VariableColumn> sources_;  ///< sources with their proxies
  std::vector<std::int64_t> proxy_numbers_;
  KernelTargets targets_, trial_;  ///< all; those of the sample, with results of other thetas
  std::vector<std::uint32_t> trial_rows_;
  std::vector<ResultVector> vectors_;
  KernelSums sums_;
  std::vector<Group> groups_, sample_groups_;
  std::optional<KernelSample> sample_;
  TreeCosts costs_;
  double spent_ = 0, saving_ = 0;  ///< cost of the choice so far; expected part of the direct sums
  bool found_ = false;             ///< whether a tree is known that is accurate
  bool stopped_ = false;           ///< whether further trials would have cost too much
  double error_seconds_ = 0;       ///< time of measuring the errors of results
  double length_of_trial_ = 0;     ///< mean length of the lists of the last trial
  bool has_largest_ = false;       ///< whether the sample has the largest results
  std::vector<Proxies> proxies_;
  Hierarchy hierarchy_{nullptr, {}, {}, usual_theta};
};

/// Whether squares of distances are finite, and numbers of particles fit lists.
bool fits_tree(const KernelInput& in) {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  const auto beyond = [](double x) { return std::abs(x) > max_coordinate; };
  return in.source_pos.size() / 3 <= most && in.target_pos.size() / 3 <= most &&
         std::ranges::none_of(in.source_pos, beyond) && std::ranges::none_of(in.target_pos, beyond);
}

std::optional<TreeSumReport> compute_tree(SetJob& job, const KernelForm& form,
                                          const KernelInput& input, const TreeSumOptions& options,
                                          unsigned threads, GroupShare* share,
                                          std::string& reason) {
  const std::size_t n = input.source_pos.size() / 3, m = input.target_pos.size() / 3;
  if (n == 0 || m == 0) {
    reason = "there are no particles";
    return {};
  }
  if (!fits_tree(input)) {
    reason = "coordinates are too large for squares of distances";
    return {};
  }
  const bool chosen = options.theta > 0 || options.degree > 0;
  if (!chosen &&
      (m < fewest_targets || static_cast<double>(n) * static_cast<double>(m) < fewest_pairs)) {
    reason = "there are few particles";
    return {};
  }
  const Stopwatch build;
  std::optional<KernelTree> made;
  in_step(share, "a tree", [&] {
    made.emplace(job, form, input, options, threads, share);
    if (made->has_twins())
      reason = "targets and sources at other places have equal numbers";
    else if (!made->charges_fit())
      reason = "charges are too large to be added";
  });
  if (!reason.empty()) return {};
  KernelTree& tree = *made;
  const double build_seconds = build.seconds();
  const Stopwatch choice;
  if (!tree.choose(reason)) return {};
  const double choice_seconds = choice.seconds();
  if (!tree.compute(reason)) return {};
  tree.write();
  TreeSumReport report = tree.report();
  report.build_seconds = build_seconds;
  report.choice_seconds = choice_seconds;
  return report;
}

}  // namespace

void check_options(const TreeSumOptions& o) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCategory::Usage, "TreeSumOptions: " + what);
  };
  if (!(o.accuracy > 0 && o.accuracy < 1))
    refuse(fmt::format("accuracy must be above 0 and below 1, it is {}", o.accuracy));
  if (!(o.theta == 0 || (o.theta > 0 && o.theta <= max_theta)))
    refuse(fmt::format(
        "theta must be above 0 and at most {}, or 0 for a choice by the accuracy, it is {}",
        max_theta, o.theta));
  if (o.degree > max_legendre_degree)
    refuse("degree must be 1 to " + std::to_string(max_legendre_degree) +
           ", or 0 for a choice by the accuracy, it is " + std::to_string(o.degree));
}

TreeSumReport compute_kernel(SetJob& job, const KernelForm& form, const KernelInput& input,
                             const TreeSumOptions& options, unsigned threads, GroupShare* share) {
  std::string reason;
  if (const auto report = compute_tree(job, form, input, options, threads, share, reason))
    return *report;
  const std::size_t n = input.source_pos.size() / 3;
  const std::vector<std::uint32_t> order = identity(input.target_pos.size() / 3);
  const KernelParticles particles(form, input, threads);
  std::vector<VariableColumn> sources;
  KernelTargets targets;
  in_step(share, "particles of direct sums", [&] {
    sources = particles.sources(identity(n));
    targets = particles.targets(order);
  });
  KernelSums sums(job, threads);
  if (targets.size > 0) sums.compute_directly(n, sources, targets, share);
  write_results(*input.results_group, input.results, order, threads, targets.results);
  TreeSumReport report;
  report.reason = reason;
  report.sources_per_target = static_cast<double>(n);
  report.sum_seconds = sums.sum_seconds;
  return report;
}

}  // namespace gdr::tree
