// Trees on many ranks: all ranks have all particles, each computes a share of the groups.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libgdr/ranks/ranks.hpp"
#include "libgdr/tree/gravity_tree.hpp"
#include "libgdr/tree/group_share.hpp"

namespace gdr {

/// The particles of all ranks in rank order, gathered from those of each rank.
struct AllParticles {
  std::vector<double> source, mass, target;  ///< `target` is empty if targets are the sources
  std::vector<std::size_t> source_offsets, target_offsets;  ///< those of each rank
  std::vector<double> acceleration, potential;              ///< results of all targets
  std::size_t bytes_received = 0;

  /// Collective, also for errors.
  AllParticles(RankGroup& ranks, const tree::GravityInput& own);

  tree::GravityInput input(double softening, bool same) const;
  /// Copies the results of this rank's targets; either may be null.
  void copy_results(RankGroup& ranks, double* own_acceleration, double* own_potential) const;
  std::size_t bytes() const noexcept;
};

class RankShare final : public tree::GroupShare {
 public:
  explicit RankShare(RankGroup& ranks) : ranks_(ranks) {}

  void step(const std::string& name, const std::function<void()>& work) override;
  std::span<const tree::Group> own(std::span<const tree::Group> groups) const override;
  void join(std::span<const tree::Group> groups, std::span<tree::ResultRow> rows,
            double& pairs) override;

  double own_pairs = 0;            ///< pairs that this rank has computed
  std::size_t bytes_received = 0;  ///< results from other ranks

 private:
  /// The first group of a rank, the number of groups for the rank after the last: groups with about
  /// the same number of targets for each rank.
  std::size_t first_group(std::span<const tree::Group> groups, std::size_t rank) const;

  RankGroup& ranks_;
};

/// Throws on all ranks if these arguments, or the options, differ between them. Collective.
void require_equal_options(RankGroup& ranks, const TreeOptions& options, double softening);

}  // namespace gdr
