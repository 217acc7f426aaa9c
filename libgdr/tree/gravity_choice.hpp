// What is known of a calculation of gravity before its tree is made: whether a tree is possible and
// pays, and the choices to begin with.
#pragma once

#include <cstddef>

#include "libgdr/tree/gravity_tree.hpp"

namespace gdr::tree {

constexpr double largest_theta = 0.95, smallest_theta = 0.05;

/// What the choice asks of the sample, whose errors may be smaller than those of all targets.
constexpr double accuracy_of_sample = 0.85;

/// A theta for which expansions and pairs take about as long, and the factor of the errors by one
/// degree more. The first trial has a small degree.
constexpr double theta_of_expansions = 0.7, error_of_degree = 0.53;
constexpr unsigned degree_of_trial = 4;

/// Targets with a common list.
constexpr std::size_t groups_of_proxies = 256, groups_of_expansions = 64;

/// A theta for proxies that nearly always does at the first attempt, relative to the usual one.
constexpr double careful = 0.85;

/// The degree of proxies with the smallest processor time for an accuracy, and the theta that it
/// usually needs.
struct FirstChoice {
  unsigned degree = 0;
  double theta = 0;
};
FirstChoice first_choice(double accuracy);
/// Errors of proxies of a degree grow with about this power of theta.
constexpr double power_of_theta(unsigned degree) { return degree + 1.5; }

/// The degree of expansions that an accuracy usually needs.
unsigned usual_degree(double accuracy);
/// The number of proxies of a degree for each cluster. Three have a quadrupole of masses that are
/// not negative; jerks and masses of either sign need a spherical design.
unsigned points_of(const GravityInput& in, unsigned degree);
/// Sources in the list of a target: of proxies, and of expansions, which are left for pairs.
double usual_length(double accuracy, bool expansions);

/// Whether squares of distances and sums of masses are finite, and numbers of particles fit lists.
bool in_range(const GravityInput& in, unsigned threads);
/// Whether most of the masses are balanced by others of the opposite sign.
bool charges_cancel(const GravityInput& in);
/// Proxies of charges that cancel have errors of the charges' sizes, and need many pairs.
bool expansions_are_wanted(const GravityInput& in, const TreeOptions& options, bool cancel);
/// The number of targets whose errors are measured: fewer of few targets.
std::size_t samples_for(const TreeOptions& options, std::size_t targets, bool expansions);
/// Whether a choice may cost a tree, with which it begins, a sample and a trial.
bool tree_is_affordable(const GravityInput& in, const TreeOptions& options);
/// Targets of a sample that have a common list: more for few targets, whose lists are nearly as
/// long as those of many.
std::size_t samples_of_list(const GravityInput& in);

/// Options with the choice of an earlier call, and with a new choice instead.
TreeOptions with_earlier_choice(const TreeOptions& options);
TreeOptions with_new_choice(const TreeOptions& options);

}  // namespace gdr::tree
