// The search for the method, the degree and the theta of a calculation of gravity, by the errors of
// a sample of its targets and by counted costs.
#pragma once

#include <optional>
#include <vector>

#include "libgdr/tree/choice_costs.hpp"
#include "libgdr/tree/gravity_sums.hpp"
#include "libgdr/tree/sample.hpp"

namespace gdr::tree {

class GravitySearch {
 public:
  GravitySearch(GravitySums& sums, const GravityInput& input, const TreeOptions& options,
                GroupShare* share);

  /// Makes proxies or expansions of a degree, and sets a theta, with which the sample's errors are
  /// small enough; false if direct sums are faster or needed.
  bool choose(const DirectSums& direct, const DirectSums& direct_jerk);

  /// The sample, with the sums of which the errors of all results can be measured.
  const Sample& sample() const { return *sample_; }
  const Sample& jerk_sample() const { return *jerk_sample_; }
  /// Whether all sums with lists of this mean length take less time than direct sums.
  bool is_fast(double length) const { return costs_.is_fast(length, sums_.harmonics()); }

 private:
  bool can_pay();
  bool expansions_can_pay();
  bool proxies_can_pay();
  double length_of_some_lists();

  bool choose_for_sample();
  bool choose_expansions();
  bool choose_proxies();
  void use_expansions_of(int degree);
  void make_proxies(unsigned degree);
  std::vector<unsigned> degrees() const;
  double error_with(double theta);
  bool find_theta(double known = 0);
  bool pairs_are_few(double pairs) const;
  bool fast_enough() const { return is_fast(sums_.length_of_sample()); }

  std::size_t samples() const;
  double cost_of_sample() const;
  double lists_of_trial() const;
  double cost_of_trial(double length) const { return cost_of_trial(length, sums_.harmonics()); }
  double cost_of_trial(double length, unsigned harmonics) const {
    return costs_.trial(lists_of_trial(), length, harmonics);
  }
  double expected_length() const;
  double first_trial() const { return cost_of_trial(expected_length()); }

  GravitySums& sums_;
  const GravityInput& in_;
  const TreeOptions& options_;
  GroupShare* share_;  ///< null: one process
  ChoiceCosts costs_;
  std::optional<Sample> sample_, jerk_sample_;
  double counted_length_ = 0;  ///< length of lists before the first trial
};

}  // namespace gdr::tree
