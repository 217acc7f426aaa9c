#include "libgdr/tree/gravity_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/tree/choice_costs.hpp"
#include "libgdr/tree/designs.hpp"
#include "libgdr/tree/harmonics.hpp"
#include "libgdr/tree/sample.hpp"
#include "libgdr/tree/size_range.hpp"
#include "libgdr/tree/sources.hpp"

namespace gdr::tree {
namespace {

/// Coordinates and sums of masses beyond these leave no room for squares.
constexpr double largest_coordinate = 1e150, largest_mass = 1e290;

/// The degree of proxies from an accuracy on, and the theta that another accuracy needs with it:
/// 40000 and 300000 particles of a Plummer sphere and a cube (bench/python_tree.py --degree 2).
struct Usual {
  double min_accuracy;
  unsigned degree;
  double accuracy, theta;
};
constexpr std::array<Usual, 4> usual_choices{
    {{5e-3, 1, 5e-3, 0.8}, {5e-5, 2, 1e-3, 0.53}, {5e-6, 4, 1e-5, 0.32}, {0, 5, 1e-6, 0.3}}};

/// The accuracy from which on expansions are faster than proxies.
constexpr double min_accuracy_of_proxies = 5e-4;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCategory::Usage, "TreeOptions: " + what);
}

}  // namespace

FirstChoice first_choice(double accuracy) {
  const Usual& u = *std::ranges::find_if(
      usual_choices, [&](const Usual& c) { return accuracy >= c.min_accuracy; });
  const double theta = u.theta * std::pow(accuracy / u.accuracy, 1 / power_of_theta(u.degree));
  return {u.degree, std::clamp(theta, smallest_theta, largest_theta)};
}

unsigned usual_degree(double accuracy) {
  const double steps = std::log(accuracy_of_sample * accuracy) / std::log(error_of_degree);
  return static_cast<unsigned>(
      std::clamp(std::ceil(steps) - 5.0, double{degree_of_trial}, double{max_harmonics}));
}

unsigned points_of(const GravityInput& in, unsigned degree) {
  if (degree == 2 && in.source_velocity == nullptr && !in.has_negative) return points_of_quadrupole;
  return static_cast<unsigned>(design_for(degree).size());
}

double usual_length(double accuracy, bool expansions) {
  return expansions ? 3300 : 150 / std::sqrt(accuracy);
}

bool in_range(const GravityInput& in, unsigned threads) {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  if (in.n_sources > most || in.n_targets > most) return false;
  const auto size = [&](const double* values, std::size_t n) {
    return values == nullptr ? 0 : size_range({values, n}, threads).most;
  };
  const auto size_of_both = [&](const double* sources, const double* targets) {
    const double of_sources = size(sources, 3 * in.n_sources);
    return in.same ? of_sources : std::max(of_sources, size(targets, 3 * in.n_targets));
  };
  const double mass = static_cast<double>(in.n_sources) * size(in.mass, in.n_sources);
  const double at = size_of_both(in.source, in.target);
  const double speed = size_of_both(in.source_velocity, in.target_velocity);
  return at <= largest_coordinate && mass < largest_mass && speed <= largest_coordinate &&
         mass * std::max(1.0, speed) < largest_mass;
}

bool charges_cancel(const GravityInput& in) {
  if (!in.has_negative) return false;
  double sum = 0, sizes = 0;
  for (std::size_t k = 0; k < in.n_sources; ++k) {
    sum += in.mass[k];
    sizes += std::abs(in.mass[k]);
  }
  return std::abs(sum) < 0.5 * sizes;
}

bool expansions_are_wanted(const GravityInput& in, const TreeOptions& options, bool cancel) {
  if (in.source_velocity != nullptr) return false;
  if (options.method == TreeMethod::Expansion) return true;
  return options.method == TreeMethod::Auto && options.degree == 0 && options.theta == 0 &&
         (cancel || options.accuracy < min_accuracy_of_proxies);
}

std::size_t samples_for(const TreeOptions& options, std::size_t targets, bool expansions) {
  if (options.samples > 0) return std::min(options.samples, targets);
  // Of expansions, few targets have much larger errors.
  const std::size_t most = expansions ? 512 : 256;
  // Where the choice is judged, 0.6 % of the direct sums.
  const std::size_t least = options.method == TreeMethod::Auto ? 128 : most;
  return std::min(targets, std::clamp<std::size_t>(targets / 160, least, most));
}

bool tree_is_affordable(const GravityInput& in, const TreeOptions& options) {
  if (options.theta > 0) return true;
  const bool expansions = expansions_are_wanted(in, options, charges_cancel(in));
  ChoiceCosts costs(in, options, groups_of_expansions);
  const std::size_t samples = samples_for(options, in.n_targets, expansions);
  const auto lists = static_cast<double>(blocks_of_sample(samples, samples_of_list(in)));
  const auto can_pay = [&](bool expand) {
    const double length = costs.min_length(expand);
    const unsigned harmonics = expand ? usual_degree(options.accuracy) : 0;
    costs.expect(length, harmonics);
    return costs.usually_pays(expand) &&
           costs.affordable(
               costs.build() + costs.sample(static_cast<double>(samples)) +
               (expand ? costs.of.multipoles(static_cast<double>(in.n_sources), degree_of_trial)
                       : costs.proxies(first_choice(options.accuracy).degree)) +
               costs.trial(lists, length, harmonics));
  };
  return can_pay(false) || (expansions && can_pay(true));
}

std::size_t samples_of_list(const GravityInput& in) { return in.n_targets < 100'000 ? 8 : 4; }

TreeOptions with_earlier_choice(const TreeOptions& options) {
  TreeOptions kept = options;
  kept.earlier = nullptr;
  kept.method = options.earlier->method;
  kept.degree = options.earlier->degree > 1 ? options.earlier->degree : 0;
  kept.theta = options.earlier->theta;
  return kept;
}

TreeOptions with_new_choice(const TreeOptions& options) {
  TreeOptions anew = options;
  anew.earlier = nullptr;
  anew.method = TreeMethod::Auto;
  anew.degree = 0;
  anew.theta = 0;
  return anew;
}

void check_options(const TreeOptions& o) {
  if (o.earlier != nullptr) check_options(with_earlier_choice(o));
  if (!(o.accuracy > 0 && o.accuracy < 1))
    refuse(fmt::format("accuracy must be above 0 and below 1, it is {}", o.accuracy));
  if (!(o.theta == 0 || (o.theta > 0 && o.theta <= largest_theta)))
    refuse(fmt::format(
        "theta must be above 0 and at most {}, or 0 for a choice by the accuracy, it is {}",
        largest_theta, o.theta));
  const bool expansion = o.method == TreeMethod::Expansion;
  const unsigned most = expansion ? max_harmonics : largest_degree;
  if (o.degree != 0 && (o.degree < min_degree || o.degree > most))
    refuse("degree must be 2 to " + std::to_string(most) +
           ", or 0 for a choice by the accuracy, it is " + std::to_string(o.degree));
  if (o.calls == 0) refuse("calls must be at least 1, it is 0");
  if (o.degree != 0 && (o.method == TreeMethod::Direct || o.method == TreeMethod::Monopole))
    refuse("a degree is that of multipoles; leave it out, or choose TreeMethod::Multipole");
}

}  // namespace gdr::tree
