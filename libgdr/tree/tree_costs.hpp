// What gravity with a tree costs, counted in pairs of direct sums. A choice by counts is the same
// on every host and in every run.
#pragma once

namespace gdr::tree {

/// The figures are processor times of the engine "native" on one thread of a Zen 4, divided by that
/// of a pair of direct sums, 0.6 ns.
struct TreeCosts {
  /// Pairs that the engine of the device computes in the time of one of "native".
  double speed = 1;

  /// The tree of so many sources and targets.
  double build(double particles) const { return speed * 200 * particles; }
  /// A trial with a sample, each of whose targets has a list of its own, of this mean length: its
  /// sources are converted for one target, and fill a part of a vector.
  double trial(double samples, double length) const {
    return speed * samples * (4000 + 45 * length);
  }
  /// Expansions for some targets, their evaluation among them: translations are of third order in
  /// the degree, evaluations and other steps of second and fourth.
  double expansions(double targets, unsigned degree) const {
    const double d = degree;
    return speed * (300 * d + 0.05 * d * d * d * d) * targets;
  }
  /// The multipoles of clusters of some sources, up to a degree.
  double multipoles(double sources, unsigned degree) const {
    return speed * 4 * degree * degree * sources;
  }
  /// A target of a sum over proxies and particles, and a pair of its list.
  double target() const { return speed * 1000; }
  static constexpr double pair() { return 1.3; }
};

/// The part of the cost of direct sums that a choice may cost: after it, direct sums may still turn
/// out to be faster.
constexpr double share_of_choice = 0.25;

}  // namespace gdr::tree
