#include "libgdr/tree/gravity_search.hpp"

#include <algorithm>
#include <cmath>

#include "emulator/host/divide_up.hpp"
#include "libgdr/tree/designs.hpp"
#include "libgdr/tree/gravity_choice.hpp"

namespace gdr::tree {
namespace {

std::size_t group_size_of(const GravitySums& sums, const TreeOptions& options) {
  if (options.group_size > 0) return options.group_size;
  return sums.wants_expansions() ? groups_of_expansions : groups_of_proxies;
}

}  // namespace

GravitySearch::GravitySearch(GravitySums& sums, const GravityInput& input,
                             const TreeOptions& options, GroupShare* share)
    : sums_(sums),
      in_(input),
      options_(options),
      share_(share),
      costs_(input, options, group_size_of(sums, options)) {}

bool GravitySearch::choose(const DirectSums& direct, const DirectSums& direct_jerk) {
  costs_.spent = costs_.build();
  bool found = false;
  in_step(share_, "lengths of lists", [&] { found = can_pay(); });
  if (!found) return false;
  costs_.spent += cost_of_sample();
  const SamplePlaces places = sample_places(sums_.groups(), samples(), samples_of_list(in_));
  sample_.emplace(sums_.targets(), places, direct);
  if (sums_.has_jerk()) jerk_sample_.emplace(sums_.targets(), places, direct_jerk);
  in_step(share_, "choice of a tree", [&] { found = choose_for_sample(); });
  return found;
}

/// Whether a tree may be faster than direct sums, by the lengths of lists with the usual degree and
/// theta, which are counted before anything is computed.
bool GravitySearch::can_pay() {
  if (sums_.wants_expansions() && costs_.usually_pays(true)) {
    sums_.use_expansions();
    if (options_.method == TreeMethod::Expansion || expansions_can_pay()) return true;
  }
  return proxies_can_pay();
}

/// Softening may leave so many pairs that a trial would take as long as direct sums.
bool GravitySearch::expansions_can_pay() {
  use_expansions_of(static_cast<int>(degree_of_trial));
  sums_.set_theta(theta_of_expansions);
  const unsigned usual = usual_degree(options_.accuracy);
  const double pairs = length_of_some_lists();
  costs_.expect(pairs, usual);
  return pairs_are_few(pairs) && costs_.pays(pairs, usual) &&
         costs_.affordable(cost_of_sample() + costs_.trial(lists_of_trial(), pairs, usual));
}

bool GravitySearch::proxies_can_pay() {
  if (!costs_.usually_pays(false)) return false;
  sums_.use_proxies();
  if (options_.method != TreeMethod::Auto || options_.theta > 0) return true;
  const unsigned degree = degrees().front();
  sums_.plan_proxies_up_to(degree);
  // What a lucky choice would have.
  constexpr double lucky = 1.1;
  const double usual = options_.degree > 0 ? 1 : first_choice(options_.accuracy).theta;
  sums_.set_theta(std::min(lucky * usual, largest_theta));
  const double length = length_of_some_lists();
  costs_.expect(length, 0);
  const double choice = cost_of_sample() + costs_.proxies(degree);
  return costs_.pays(length, 0, choice) &&
         costs_.affordable(choice + costs_.trial(lists_of_trial(), length, 0));
}

/// The mean length of the lists of some groups with the present theta.
double GravitySearch::length_of_some_lists() {
  const std::size_t some = std::clamp<std::size_t>(in_.n_targets / 1000, 12, 32);
  const std::size_t groups = sums_.groups().size(), step = divide_up(groups, some);
  std::vector<std::uint32_t> numbers;
  for (std::size_t k = step / 2; k < groups; k += step)
    numbers.push_back(static_cast<std::uint32_t>(k));
  const GravitySums::Lengths lengths = sums_.lengths_of(numbers);
  costs_.spent += costs_.of.lists(static_cast<double>(numbers.size()), lengths.mean);
  if (sums_.expands())
    costs_.spent += costs_.of.expansions_of_some(lengths.targets, sums_.degree());
  counted_length_ = lengths.mean;
  return lengths.mean;
}

std::size_t GravitySearch::samples() const {
  return samples_for(options_, in_.n_targets, sums_.wants_expansions());
}

/// The direct sums of the sample; nothing once they have been computed.
double GravitySearch::cost_of_sample() const {
  return sample_ ? 0 : costs_.sample(static_cast<double>(samples()));
}

double GravitySearch::lists_of_trial() const {
  if (const std::size_t made = sums_.lists_of_sample(); made > 0) return static_cast<double>(made);
  return static_cast<double>(blocks_of_sample(samples(), samples_of_list(in_)));
}

/// Degree and theta by the errors of the sample; false if direct sums are faster or needed.
bool GravitySearch::choose_for_sample() {
  sums_.set_sample(sample_->places());
  if (sums_.expands()) {
    if (choose_expansions()) return true;
    if (options_.method == TreeMethod::Expansion || !proxies_can_pay()) return false;
    sums_.set_sample(sample_->places());
  }
  return choose_proxies();
}

void GravitySearch::use_expansions_of(int degree) {
  const auto used = static_cast<unsigned>(std::clamp<int>(degree, min_harmonics, max_harmonics));
  if (sums_.set_expansions(used))
    costs_.spent += costs_.of.multipoles(static_cast<double>(in_.n_sources), used);
}

/// Chooses the degree of the expansions, and a theta if the largest does not suffice. False if
/// softening or accuracy leave too much to pairs.
bool GravitySearch::choose_expansions() {
  const double wanted = accuracy_of_sample * options_.accuracy;
  sums_.set_theta(options_.theta);
  const auto steps_for = [](double ratio) {
    return static_cast<int>(std::ceil(std::log(ratio) / std::log(error_of_degree)));
  };
  if (options_.degree > 0) {
    use_expansions_of(static_cast<int>(options_.degree));
    if (options_.theta > 0) return true;
    sums_.set_theta(theta_of_expansions);
    return find_theta() && fast_enough();
  }
  // The trial of a small degree is left out where both cost too much.
  const unsigned usual = usual_degree(options_.accuracy);
  use_expansions_of(static_cast<int>(degree_of_trial));
  if (options_.theta > 0) return true;
  const double length = expected_length();
  if (!costs_.affordable(cost_of_trial(length) + cost_of_trial(length, usual)))
    use_expansions_of(static_cast<int>(usual));
  double before = 1;
  for (unsigned attempt = 0; attempt < 4; ++attempt) {
    const double error = error_with(theta_of_expansions);
    const double pairs = sums_.length_of_sample();
    if (!pairs_are_few(pairs)) return false;
    if (error <= wanted) return fast_enough();
    if (sums_.degree() == max_harmonics)
      return find_theta(error) && pairs_are_few(sums_.length_of_sample()) && fast_enough();
    if (!std::isfinite(error)) break;
    // The softening of clusters, which a higher degree does not have: closer ones are summed.
    if (error > 0.8 * before)
      return options_.method == TreeMethod::Expansion && find_theta(error) && fast_enough();
    before = error;
    const int next = static_cast<int>(sums_.degree()) + steps_for(0.9 * wanted / error);
    const auto most = static_cast<int>(max_harmonics);
    if (costs_.affordable(cost_of_trial(pairs, static_cast<unsigned>(std::min(next, most))))) {
      use_expansions_of(next);
      continue;
    }
    // Without a trial, with one degree more: the sum measures its error, too. Not with a softening,
    // whose errors a higher degree does not have: a second sum takes as long as direct sums.
    if (next >= most || sums_.is_softened()) return false;
    use_expansions_of(next + 1);
    return fast_enough();
  }
  return find_theta() && pairs_are_few(sums_.length_of_sample()) && fast_enough();
}

/// Whether a softening leaves so few pairs that proxies take longer, of which they need about
/// 300 / sqrt(accuracy).
bool GravitySearch::pairs_are_few(double pairs) const {
  return options_.method == TreeMethod::Expansion ||
         pairs < std::max(5000.0, 150 / std::sqrt(options_.accuracy));
}

/// Chooses degree and theta of proxies.
bool GravitySearch::choose_proxies() {
  for (const unsigned degree : degrees()) {
    const double more = costs_.proxies(degree);
    if (options_.theta == 0 && !costs_.affordable(more + first_trial())) return false;
    costs_.spent += more;
    make_proxies(degree);
    if (options_.theta > 0) {
      sums_.set_theta(options_.theta);
      return true;
    }
    if (find_theta()) return fast_enough();
    if (options_.method != TreeMethod::Auto && options_.degree != 0) break;
  }
  return false;
}

/// The degrees to try, in this order.
std::vector<unsigned> GravitySearch::degrees() const {
  if (options_.method == TreeMethod::Monopole) return {1};
  if (options_.degree > 0) return {options_.degree};
  const bool multipoles = options_.method == TreeMethod::Multipole || sums_.has_jerk();
  unsigned first = multipoles ? min_degree : 1;
  first = std::max(first, first_choice(options_.accuracy).degree);
  std::vector<unsigned> all;
  for (unsigned degree = first; degree <= largest_degree; ++degree) all.push_back(degree);
  return all;
}

void GravitySearch::make_proxies(unsigned degree) {
  sums_.set_proxies(degree);
  // Lists of a second trial may be longer.
  const bool one_trial = !costs_.affordable(3 * first_trial());
  sums_.set_theta((one_trial ? careful : 1) * first_choice(options_.accuracy).theta);
}

double GravitySearch::error_with(double theta) {
  sums_.set_theta(theta);
  const std::span<const ResultRow> rows = sums_.compute_sample();
  const double length = sums_.length_of_sample();
  costs_.spent += cost_of_trial(length);
  costs_.expect(length, sums_.harmonics());
  return sample_->error_of(rows).bound;
}

/// The length of lists before the first trial: counted ones, or the usual one.
double GravitySearch::expected_length() const {
  if (counted_length_ > 0) return counted_length_;
  return std::min(usual_length(options_.accuracy, sums_.expands()),
                  static_cast<double>(in_.n_sources));
}

/// Sets the largest theta, within a tenth, with which the bound of the error is small enough, or
/// one that is smaller if further trials cost too much. False if there is none. `known` is the
/// bound with the present theta, if it is too large.
bool GravitySearch::find_theta(double known) {
  const double wanted = accuracy_of_sample * options_.accuracy;
  const double power = 1 / power_of_theta(sums_.degree());
  double good = 0, bad = largest_theta * 1.1, theta = sums_.theta();
  for (unsigned attempt = 0; attempt < 8 && theta > smallest_theta; ++attempt) {
    const bool is_known = known > 0 && attempt == 0;
    const double length = attempt > 0 || known > 0 ? sums_.length_of_sample() : expected_length();
    if (!is_known && !costs_.affordable(cost_of_trial(length))) break;
    const double error = is_known ? known : error_with(theta);
    (error <= wanted ? good : bad) = theta;
    costs_.found = good > 0;
    const double growth = std::pow(0.9 * wanted / error, power);
    const bool near = error <= wanted && growth < 1.1;
    if (good > 0 && (near || bad < 1.1 * good || good == largest_theta)) break;
    double next = theta * std::clamp(growth, 0.5, 1.5);
    if (error == 0) next = 1.5 * theta;
    if (!(next > good && next < bad) || attempt > 3)
      next = good > 0 ? std::sqrt(good * bad) : 0.6 * theta;
    next = std::min(next, largest_theta);
    // Lists grow by more than the square of the distances.
    const double stretch = theta / next;
    if (good == 0 && !is_fast(sums_.length_of_sample() * stretch * stretch)) break;
    theta = next;
  }
  sums_.set_theta(good);
  return good > 0;
}

}  // namespace gdr::tree
