// Gravity with a tree on many ranks: all ranks have all particles.
#pragma once

#include <vector>

#include "libgdr/ranks/ranks.hpp"
#include "libgdr/tree/gravity_tree.hpp"

namespace gdr {

/// The particles of all ranks in rank order, gathered from those of each rank.
struct AllParticles {
  std::vector<double> source, mass, target;  ///< `target` is empty if targets are the sources
  std::vector<double> source_velocity, target_velocity;  ///< empty without velocities
  std::vector<double> source_square, target_square;  ///< squares of the softening of each particle
  std::vector<std::uint32_t>
      target_source;  ///< indices of the targets, if they are some of the sources
  std::vector<std::size_t> source_offsets, target_offsets;  ///< those of each rank
  std::vector<double> acceleration, potential, jerk;        ///< results of all targets
  std::size_t bytes_received = 0;

  /// With velocities if `moving`, also where a rank without particles has none. Collective, also
  /// for errors.
  AllParticles(RankGroup& ranks, const tree::GravityInput& own, bool moving = false);

  /// The calculation with all particles of which `own` has those of this rank.
  tree::GravityInput input(const tree::GravityInput& own) const;
  tree::GravityResults results();
  /// Copies the results of this rank's targets to arrays that may be null.
  void copy_results(const RankGroup& ranks, const tree::GravityResults& own) const;
  std::size_t sources_bytes() const noexcept;
  std::size_t bytes() const noexcept;
};

/// Throws on all ranks if these arguments, or the options, differ between them. Collective.
void require_equal_options(RankGroup& ranks, const TreeOptions& options, double softening);

}  // namespace gdr
