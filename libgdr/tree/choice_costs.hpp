// What the choice of a tree for gravity has cost, and whether more of it pays.
#pragma once

#include <algorithm>

#include "libgdr/tree/gravity_choice.hpp"

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
  double spent = 0;    ///< by the choice so far
  double samples = 0;  ///< targets of a trial

  /// A trial with lists of this mean length. Expansions are made for all groups that have a target
  /// of the sample.
  double trial(double length, unsigned harmonics) const {
    const double lists = of.trial(samples, length);
    if (harmonics == 0) return lists;
    return lists + of.expansions(std::min(samples * group_size_, targets_), harmonics);
  }
  /// The length of lists before the first trial.
  double usual_length(bool expansions) const {
    return std::min(tree::usual_length(options_.accuracy, expansions), sources_);
  }
  /// Whether a choice may cost so much more.
  bool affordable(double cost) const {
    return is_chosen() || spent + cost <= budget_of_choice(in_, options_);
  }
  /// Whether sums with lists of this mean length take less time than direct sums.
  bool is_fast(double length, unsigned harmonics) const {
    return is_chosen() || target(length, harmonics) < sources_;
  }
  /// The same with what the choice has cost, and further trials, which serve some calls.
  bool pays(double length, unsigned harmonics, double trials = 0) const {
    const double sums = static_cast<double>(options_.calls) * targets_;
    return is_chosen() ||
           spent + trials + sums * target(length, harmonics) < most_of_direct * sums * sources_;
  }
  /// The same for what an accuracy needs at least, as far as is known: two trials, and of proxies
  /// half of the usual length, which is that of millions of particles.
  bool usually_pays(bool expansions) const {
    if (options_.degree > 0 || options_.theta > 0) return true;
    const unsigned harmonics = expansions ? usual_degree(options_.accuracy) : 0;
    const double length = (expansions ? 1 : 0.5) * usual_length(expansions);
    return pays(length, harmonics, 2 * trial(length, harmonics));
  }

 private:
  /// Of the cost of direct sums: estimates are not exact.
  static constexpr double most_of_direct = 0.95;

  bool is_chosen() const { return options_.method != TreeMethod::Auto; }
  /// A target with its list.
  double target(double length, unsigned harmonics) const {
    return (harmonics > 0 ? of.expansions(1, harmonics) : of.target()) + TreeCosts::pair() * length;
  }

  const GravityInput& in_;
  const TreeOptions& options_;
  double targets_, sources_, group_size_;
};

}  // namespace gdr::tree
