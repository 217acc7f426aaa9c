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

/// What the kernel "gravity_jerk" takes besides: velocities in the order of targets and sources,
/// and the destination of jerks.
struct Motion {
  std::span<const Velocity> targets = {}, sources = {};
  std::span<ResultRow> jerks = {};  ///< whose potentials are unused
};

/// What kernels with softening of each particle take besides: squares in the order of targets and
/// sources, which add up.
struct Softened {
  std::span<const double> targets = {}, sources = {};
};

/// Computes groups of targets with the kernel "gravity", or with "gravity_jerk" if there is motion,
/// or with those that have softening of each particle (libgdr/particle/softening.hpp). The job has
/// the parameters.
class GroupSums {
 public:
  GroupSums(SetJob& job, std::span<const Source> targets, std::span<ResultRow> results,
            unsigned threads)
      : lists(threads), job_(&job), targets_(targets), results_(results) {}

  /// Fills the results of groups of targets. Lists of sources are those of the groups' boxes, made
  /// for some thousand groups at a time.
  void compute(std::span<const Group> groups, const Hierarchy& hierarchy,
               std::span<const Source> sources);

  Motion motion = {};
  Softened softened = {};
  std::function<void(double)> progress = {};  ///< called with the share of a computation's groups
  GroupLists lists;          ///< of the last groups, with the number of pairs so far
  double list_seconds = 0;   ///< time of making lists so far
  double force_seconds = 0;  ///< time of the sums so far

 private:
  void run(std::span<const Group> groups, std::span<const Source> sources);

  SetJob* job_;
  std::span<const Source> targets_;
  std::span<ResultRow> results_;
};

}  // namespace gdr::tree
