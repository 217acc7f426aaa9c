// What gravity with a tree costs, counted in pairs of direct sums. A choice by counts is the same
// on every host and in every run.
#pragma once

#include <algorithm>

namespace gdr::tree {

/// The figures are processor times of the engine "native" with AVX-512 on one thread, divided by
/// that of a pair of direct sums, 0.5 to 0.7 ns: the larger ones of two hosts.
struct TreeCosts {
  /// Pairs that the engine of the device computes in the time of one of "native".
  double speed = 1;

  /// The trees of so many particles.
  double build(double particles) const { return speed * 320 * particles; }
  /// Pseudo-particles up to a degree for the clusters of some sources, from those of the children:
  /// `points` is the number of those of one cluster.
  double proxies(double sources, double points) const {
    return speed * (15 + 14 * points) * sources;
  }
  /// Direct sums of a sample, in a call of its own.
  double sample(double pairs) const { return 1.25 * pairs; }
  /// Lists of this mean length, which are made and not used.
  double lists(double count, double length) const { return speed * count * (20000 + 6 * length); }
  /// A trial with some lists, each for few targets, which fill a part of the vectors: as long as
  /// they are at most 32, their number does not matter.
  double trial(double lists, double length) const { return speed * lists * (4000 + 50 * length); }
  /// Expansions for some targets, their evaluation among them: translations are of third order in
  /// the degree, evaluations and other steps of second and fourth.
  double expansions(double targets, unsigned degree) const {
    const double d = degree;
    return speed * (300 * d + 0.05 * d * d * d * d) * targets;
  }
  /// The same for some groups alone, whose larger groups have no others: of about so many more.
  double expansions_of_some(double targets, unsigned degree) const {
    return 3 * expansions(targets, degree);
  }
  /// The multipoles of clusters of some sources, up to a degree.
  double multipoles(double sources, unsigned degree) const {
    return speed * 4 * degree * degree * sources;
  }
  /// A target of a sum over proxies and particles.
  double target() const { return speed * 1000; }
  /// A pair of a list: the groups of expansions are small, and fill vectors in part.
  static constexpr double pair(bool expansions) { return expansions ? 1.7 : 1.3; }
};

/// The part of the cost of direct sums that a choice may cost, if a tree is expected to save the
/// part `saving` of it. As long as no tree is known that is accurate, direct sums may turn out to
/// be needed: only with a saving of more than half, which leaves room, may it cost more than 5 %.
constexpr double budget_of_choice(double saving, bool found) {
  return 0.05 + (found ? 0.07 * saving : 0.04 * std::max(0.0, 2 * saving - 1));
}
/// The part of the cost of direct sums that a tree may have at most: estimates are not exact.
constexpr double max_of_direct = 0.95;

}  // namespace gdr::tree
