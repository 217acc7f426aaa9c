// Forces of large blocks of the Hermite scheme to an accuracy, with trees.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gdr/gravity_jerk.hpp"
#include "libgdr/particle/hermite_scheme.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {

/// The choice of a tree (TreeOptions): degree of the multipoles, 1 for monopoles, and theta; zeros
/// are direct sums.
struct BlockTreeChoice {
  unsigned degree = 0;
  double theta = 0;
};

/// Forces of the members of a block.
struct BlockForces {
  Components &a, &j;
  std::vector<double>& pot;
};

class BlockTrees {
 public:
  /// Fewer have direct sums at any accuracy.
  static constexpr std::size_t min_particles = 10000;

  /// The device must outlive it, and `mass`, one for each particle of this rank. `particles`: the
  /// number of those of all ranks. On a device of many ranks all functions are collective, and the
  /// choice is the same on all ranks.
  BlockTrees(Device& device, double accuracy, double eps, const std::vector<double>& mass,
             std::size_t particles);

  /// Whether a block with so many members on this rank has a tree with the choice. A tree takes the
  /// time of some hundred targets for all particles, and the members of a small block are far from
  /// each other.
  bool serves(std::size_t members) const;
  /// Computes the forces of all particles on this rank's members of a block, which are in ascending
  /// order, at these positions and velocities. A new choice is made if it is `anew`, or if the
  /// error with the present one is above the accuracy. Nothing, and no forces, where direct sums
  /// are faster or needed.
  std::optional<TreeReport> compute(const std::vector<std::uint32_t>& members, const Components& x,
                                    const Components& v, bool anew, const BlockForces& to);

  BlockTreeChoice choice;

 private:
  std::optional<TreeReport> sums(const std::vector<std::uint32_t>& members, bool all,
                                 const TreeOptions& options);

  RankGroup* ranks_;  ///< null if the device belongs to this process only
  std::size_t particles_;
  GravityJerk gravity_;
  double accuracy_, eps_;
  const std::vector<double>& mass_;
  // Triples: of all particles, of the members, and of results.
  std::vector<double> x_, v_, at_, moving_, a_, j_, pot_;
};

}  // namespace gdr
