// Accelerations and jerks of a Hermite integration: of a block by a job or a tree, and of all
// particles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/hermite.hpp"
#include "libgdr/particle/block_trees.hpp"
#include "libgdr/particle/hermite_scheme.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {

/// Particles whose steps end at one time, in ascending order: positions, velocities and ids for
/// their forces, and the results.
struct HermiteBlock {
  std::vector<std::uint32_t> members;
  std::vector<std::int64_t> ids;
  Components x, v, a, j;
  std::vector<double> pot;

  explicit HermiteBlock(std::size_t n);
  std::size_t size() const noexcept { return members.size(); }
  /// Make all n particles its members.
  void take_all(std::size_t n);
};

/// Its arrays are inputs and results of its job, so it stays where it is.
class HermiteForces {
 public:
  /// Collective. Counts in `statistics`, which must outlive it.
  HermiteForces(Device& device, const std::string& kernel, const HermiteOptions& options,
                std::vector<double> mass, HermiteStatistics& statistics);
  HermiteForces(const HermiteForces&) = delete;
  HermiteForces& operator=(const HermiteForces&) = delete;

  const std::vector<double>& mass() const noexcept { return mass_; }
  /// Sizes of the terms of the forces on a member of the block.
  TermSizes terms_of(std::size_t b) const;
  bool has_trees() const noexcept { return trees_.has_value(); }
  BlockTreeChoice tree_choice() const { return trees_ ? trees_->choice : BlockTreeChoice(); }
  void set_tree_choice(const BlockTreeChoice& choice) {
    if (trees_) trees_->choice = choice;
  }

  /// Set all sources at the predicted positions, with masses and ids.
  void set_sources();
  /// The forces of all particles as a block, the first ones.
  void compute_first();
  /// Second derivatives of the first accelerations, which the block has.
  Components first_snaps(Device& device);
  /// The accelerations and jerks of the block, at its predicted positions; those of trees if it is
  /// large, with a new choice at the end of a cycle, where it has all particles.
  void compute_block(bool ends_cycle);
  /// Throws Error (Input) if the force on a member of the block is not finite.
  void check(std::size_t b) const;
  /// Accelerations (triples) and potentials of all particles at the predicted positions; null for
  /// those that are not wanted. The choice of a tree, which the integration depends on, stays.
  void compute_all(double* acceleration, double* potential);

  Components predicted_x, predicted_v;  ///< positions and velocities of all particles
  HermiteBlock block;

 private:
  double mass_of_all() const;
  std::int64_t first_id() const;
  bool compute_with_tree(bool anew);
  bool compute_all_with_tree(double* acceleration, double* potential);
  void compute_directly();
  [[noreturn]] void refuse(std::size_t particle) const;

  RankGroup* ranks_;  ///< null if the device belongs to this process only
  double eps_;
  HermiteStatistics& statistics_;
  Job job_;
  std::vector<double> mass_;
  double total_mass_ = 0;            ///< mass of all ranks' particles
  std::optional<BlockTrees> trees_;  ///< trees for large blocks of a run to an accuracy
  std::vector<std::int64_t> ids_;    ///< numbers of the particles among those of all ranks
  std::vector<NamedInput> predicted_, targets_;
  std::vector<NamedResult> results_;
};

}  // namespace gdr
