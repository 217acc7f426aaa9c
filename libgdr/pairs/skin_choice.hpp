// The skin that makes runs cheapest, from counted costs and from how far particles move.
#pragma once

#include <cstddef>
#include <optional>

namespace gdr {

/// What a run and new lists take, in numbers that every host and any number of threads counts
/// alike.
struct ListCounts {
  double pairs = 0;      ///< pairs of all targets and sources of their lists
  double sources = 0;    ///< sources of all lists
  double particles = 0;  ///< targets, and sources with their images
  double edge = 0;       ///< mean edge of the boxes of groups
  double skin = 0;       ///< skin of the lists
};

/// Chooses how much farther lists reach than the cut-off: the less, the fewer pairs a run has; the
/// more, the more runs they serve. Costs are counts times constants that were measured once
/// (bench/python_cutoff.py), not times, so that the choice, on which the order of sums depends, is
/// the same with any number of threads and on every host.
class SkinChoice {
 public:
  /// For a kernel of so many clocks of a chip for a pair, on an engine that computes all pairs of
  /// the lists, or leaves out far ones.
  SkinChoice(double clocks, bool leaves_out) noexcept;

  /// The skin for this cut-off; 0 for one that is longer than any system.
  double skin(double cutoff) const noexcept;
  /// A run that follows the positions of lists, of which particles are up to `distance` away.
  void follow(double distance) noexcept;
  /// Before new lists: `counts` are those of the last ones, `moved` whether particles have moved
  /// too far for them, not the box or the cut-off changed.
  void choose(const ListCounts& counts, double cutoff, bool moved) noexcept;

 private:
  double cost(const ListCounts& counts, double cutoff, double skin) const noexcept;

  double ns_a_pair_;
  double relative_;                ///< skin relative to the cut-off
  std::size_t runs_ = 0;           ///< runs after the last lists
  std::optional<double> a_run_{};  ///< largest distance that a particle moves in a run
};

}  // namespace gdr
