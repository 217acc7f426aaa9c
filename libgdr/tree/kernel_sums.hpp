// The sums of any kernel: groups of targets over the sources of their lists, on a device.
#pragma once

#include <span>
#include <vector>

#include "gdr/sets.hpp"
#include "libgdr/tree/columns.hpp"
#include "libgdr/tree/group_lists.hpp"
#include "libgdr/tree/group_share.hpp"

namespace gdr::tree {

/// Targets of a sum, with room for their results.
struct KernelTargets {
  std::vector<VariableColumn> inputs, results;
  std::size_t size = 0;

  void resize_results(std::size_t n) {
    size = n;
    for (VariableColumn& column : results) column.resize(n);
  }
};

/// Completes the results of consecutive groups of targets, of which each process has its own.
void join_results(GroupShare& share, std::span<const Group> groups, KernelTargets& targets);

class KernelSums {
 public:
  KernelSums(SetJob& job, unsigned threads) : lists(threads), job_(&job) {}

  /// Fills the results of groups of targets. Lists of sources, rows of the columns, are those of
  /// the groups' boxes.
  void compute(std::span<const Group> groups, const Hierarchy& hierarchy,
               std::span<const VariableColumn> sources, KernelTargets& targets);
  /// Mean length of the lists of groups, weighted by their numbers of targets.
  double mean_length(std::span<const Group> groups, const Hierarchy& hierarchy);
  /// Fills the results of all targets over the first n sources. Of processes with a share, each
  /// computes some of the sets of targets, which are those of one process.
  void compute_directly(std::size_t n, std::span<const VariableColumn> sources,
                        KernelTargets& targets, GroupShare* share);

  GroupLists lists;         ///< lists of the last groups, with the number of pairs so far
  double list_seconds = 0;  ///< time of making lists so far
  double sum_seconds = 0;   ///< time of the sums so far

 private:
  SetJob* job_;
};

}  // namespace gdr::tree
