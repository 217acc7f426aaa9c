// What the choice of a tree for gravity has cost, and whether more of it pays.
#pragma once

#include <algorithm>

#include "libgdr/tree/designs.hpp"
#include "libgdr/tree/gravity_choice.hpp"
#include "libgdr/tree/tree_costs.hpp"

namespace gdr::tree {

/// Costs of a call, counted in pairs of direct sums. `harmonics`: the degree of expansions, 0 for
/// proxies. Nothing is judged that the caller has chosen.
class ChoiceCosts {
 public:
  /// `group_size`: targets of a group with expansions.
  ChoiceCosts(const GravityInput& in, const TreeOptions& options, std::size_t group_size)
      : of{in.engine_speed},
        in_(in),
        options_(options),
        targets_(static_cast<double>(in.n_targets)),
        sources_(static_cast<double>(in.n_sources)),
        group_size_(static_cast<double>(group_size)) {}

  TreeCosts of;
  double spent = 0;    ///< cost of the choice so far
  bool found = false;  ///< whether a tree is known that is accurate

  /// The trees of the particles.
  double build() const { return of.build(in_.same ? sources_ : sources_ + targets_); }
  double sample(double targets) const { return of.sample(targets * sources_); }
  /// Pseudo-particles up to a degree; for jerks, their momenta have three components.
  double proxies(unsigned degree) const {
    double points = 1;
    for (unsigned d = min_degree; d <= degree; ++d) points += points_of(in_, d);
    return (in_.source_velocity != nullptr ? 4 : 1) * of.proxies(sources_, points);
  }
  /// A trial with some lists of this mean length. Expansions are made for all groups that have one.
  double trial(double lists, double length, unsigned harmonics) const {
    const double sums = of.trial(lists, length);
    if (harmonics == 0) return sums;
    return sums + of.expansions_of_some(std::min(lists * group_size_, targets_), harmonics);
  }
  /// Notes what sums with lists of this mean length are expected to save.
  void expect(double length, unsigned harmonics) {
    saving_ = std::max(0.0, 1 - target(length, harmonics) / sources_);
  }
  /// Whether a choice may cost so much more.
  bool affordable(double cost) const {
    return is_chosen() || spent + cost <= budget_of_choice(saving_, found) * direct_sums();
  }
  /// Whether sums with lists of this mean length take less time than direct sums.
  bool is_fast(double length, unsigned harmonics) const {
    return is_chosen() || target(length, harmonics) < max_of_direct * sources_;
  }
  /// The same with what a further choice costs, which serves some calls.
  bool pays(double length, unsigned harmonics, double choice = 0) const {
    const double sums = static_cast<double>(options_.calls) * targets_;
    return is_chosen() || choice + sums * target(length, harmonics) < max_of_direct * direct_sums();
  }
  /// The length of lists that an accuracy needs at least, as far as is known before there is a
  /// tree: half of the usual length, which is that of millions of particles.
  double min_length(bool expansions) const {
    return std::min(0.5 * usual_length(options_.accuracy, expansions), sources_);
  }
  /// Whether such lists pay.
  bool usually_pays(bool expansions) const {
    if (options_.degree > 0 || options_.theta > 0) return true;
    return pays(min_length(expansions), expansions ? usual_degree(options_.accuracy) : 0, build());
  }

 private:
  bool is_chosen() const { return options_.method != TreeMethod::Auto; }
  double direct_sums() const { return static_cast<double>(options_.calls) * targets_ * sources_; }
  /// A target with its list.
  double target(double length, unsigned harmonics) const {
    return (harmonics > 0 ? of.expansions(1, harmonics) : of.target()) +
           TreeCosts::pair(harmonics > 0) * length;
  }

  const GravityInput& in_;
  const TreeOptions& options_;
  double targets_, sources_, group_size_;
  double saving_ = 0;  ///< expected part of the direct sums
};

}  // namespace gdr::tree
