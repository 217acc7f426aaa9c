// Sums over particles with a tree: distant clusters are replaced by few particles.
#pragma once

#include <cstddef>
#include <functional>

namespace gdr {

/// What stands for a distant cluster: its mass at its centre, pseudo-particles on a sphere with its
/// multipole moments, or, for groups of targets that are small for their distance, an expansion of
/// its potential that the host computes. Direct: no cluster is replaced. Auto: the fastest of them.
enum class TreeMethod { Auto, Direct, Monopole, Multipole, Expansion };

/// How a sum may be approximated. The default lets the library choose everything but the accuracy.
struct TreeOptions {
  /// Largest root mean square of the relative errors of accelerations, above 0. Errors are relative
  /// to the acceleration, or to a thousandth of the root mean square of all where that is larger.
  /// They are measured on a sample of targets before all others are computed.
  double accuracy = 1e-3;
  TreeMethod method = TreeMethod::Auto;
  unsigned degree = 0;  ///< degree of multipoles, 2 to 6, or expansions, 2 to 16; 0: chosen
  /// Ratio of a cluster's radius and its distance, above 0 and at most 0.95, below which it is
  /// replaced; for expansions, of the sum of the radii of cluster and group. `accuracy` is not used
  /// then. 0: chosen.
  double theta = 0;
  std::size_t group_size = 0;  ///< largest number of targets with a common list; 0: chosen
  std::size_t leaf_size = 0;   ///< largest number of particles of an undivided cluster; 0: chosen
  /// Number of targets whose errors are measured; 0: 256, or 512 with expansions, and fewer, at
  /// least 128, for less than 80000 targets whose method is chosen.
  std::size_t samples = 0;
  /// The report of an earlier call, for particles that have moved a little since: its method,
  /// degree and theta are used again, without a choice, if the error with them is at most
  /// `accuracy`; else a new choice is made. Results depend on this report, and on no other state.
  /// `method`, `degree` and `theta` are not used with it. Null: none.
  const struct TreeReport* earlier = nullptr;
  /// The number of calls for which a choice is to serve (`earlier`). The choice may cost 5 % of
  /// what direct sums cost in all of them, up to 9 % if a tree is expected to save more than half
  /// of that, and, once an accurate tree is known, 5 % and 7 % of what it saves.
  std::size_t calls = 1;
  /// Called now and then with the share of the sums that is done, 0 to 1, by one thread at a time.
  std::function<void(double)> progress = {};
};

/// How a sum was computed, and its error. Errors are relative as TreeOptions::accuracy is. Direct
/// sums have the times of a choice that found no faster tree.
struct TreeReport {
  TreeMethod method = TreeMethod::Direct;  ///< not Auto
  unsigned degree = 0;                     ///< degree of the method; 1: monopoles; 0: direct
  double theta = 0;                        ///< ratio of radius and distance; 0: direct
  double error = 0;               ///< root mean square of the relative errors of the sample
  double largest_error = 0;       ///< largest relative error of the sample
  double jerk_error = 0;          ///< root mean square of those of jerks, where they are computed
  std::size_t samples = 0;        ///< number of targets whose errors were measured
  std::size_t clusters = 0;       ///< number of clusters of the sources' tree
  std::size_t groups = 0;         ///< number of groups of targets
  double sources_per_target = 0;  ///< mean number of particles and proxies in a target's sums
  double build_seconds = 0;       ///< time of making the tree
  double choice_seconds = 0;      ///< time of choosing the method, by errors of trials
  double expansion_seconds = 0;   ///< time of expansions
  double list_seconds = 0;        ///< time of making lists
  double force_seconds = 0;       ///< time of the sums
  double error_seconds = 0;       ///< time of measuring the errors of the results
};

}  // namespace gdr
