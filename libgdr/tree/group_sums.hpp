// The sums of groups of targets over the sources of their lists, on a device.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gdr/sets.hpp"
#include "libgdr/tree/group_lists.hpp"

namespace gdr::tree {

/// The results of a target.
struct ResultRow {
  double ax = 0, ay = 0, az = 0, pot = 0;
};

/// Targets with their results, in one order.
struct TargetRows {
  LineVector<Source> at;
  LineVector<Velocity> velocity = {};  ///< velocities for jerks; empty: without
  LineVector<double> square = {};      ///< softening of each particle; empty: one for all
  LineVector<ResultRow> rows = {};
  LineVector<ResultRow> jerks = {};  ///< rows whose potentials are unused

  /// Those at some places of the order.
  TargetRows at_places(std::span<const std::uint32_t> places) const;
};

/// Computes groups of targets with the kernel "gravity", or with "gravity_jerk" if there are
/// velocities, or with those that have softening of each particle (libgdr/particle/softening.hpp).
/// The job has the parameters.
class GroupSums {
 public:
  GroupSums(SetJob& job, TargetRows& targets, unsigned threads)
      : lists(threads), job_(&job), targets_(&targets) {}

  TargetRows& targets() const noexcept { return *targets_; }

  /// Fills the results of groups of targets. Lists of sources are those of the groups' boxes, made
  /// for some thousand groups at a time.
  void compute(std::span<const Group> groups, const Hierarchy& hierarchy,
               std::span<const Source> sources);

  std::span<const Velocity> source_velocity = {};  ///< velocities of the sources, for jerks
  std::span<const double> source_square = {};      ///< likewise, softening of each particle
  std::function<void(double)> progress = {};  ///< called with the share of a computation's groups
  GroupLists lists;          ///< lists of the last groups, with the number of pairs so far
  double list_seconds = 0;   ///< time of making lists so far
  double force_seconds = 0;  ///< time of the sums so far

 private:
  void run(std::span<const Group> groups, std::span<const Source> sources);

  SetJob* job_;
  TargetRows* targets_;
};

}  // namespace gdr::tree
