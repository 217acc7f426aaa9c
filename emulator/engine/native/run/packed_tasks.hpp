// The work of packed passes on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/native/run/lane_targets.hpp"
#include "emulator/engine/native/run/partial_results.hpp"
#include "emulator/engine/native/run/source_slices.hpp"
#include "emulator/engine/native/run/target_blocks.hpp"

namespace gdr::native {

/// Runs groups of targets on their slices of the sources, in lanes only or on blocks, and joins the
/// results of slices.
class PackedTasks {
 public:
  PackedTasks(const CompiledProgram& compiled, const LoadedProgram& loaded, const PackedPlan& plan,
              const TargetBlocks& blocks, SourceSlices& slices);

  /// Before the groups of passes on so many targets, after the division of the sources.
  /// `lane_targets`: groups may run in lanes only.
  void begin(std::span<const Pass> passes, std::uint64_t targets, bool lane_targets);
  /// Divides the targets: whole vectors, of nearly equal size, for load balance.
  void make_groups(std::span<const Pass> passes, unsigned threads,
                   std::vector<TargetGroup>& groups) const;
  /// Copies the last groups of sources that tasks need, or appends that to the phases if these
  /// encode the sources first.
  void prepare_last_groups(std::vector<Phase>& phases);

  /// A task. Several threads may run different ones.
  void run(const TargetGroup& group);
  /// Stores the results of a group from a block.
  void store_results(const TargetGroup& group, const BlockState& block);
  /// After all groups of a pass: joins the partial results in their order, like the network joins
  /// blocks.
  void join(const Pass& pass);

 private:
  bool run_on_lanes(const TargetGroup& group, PackedSources& sources);
  bool run_over_lanes(const TargetGroup& group);
  void run_on_block(const TargetGroup& group, const PackedSources& sources);
  void store_partials(const TargetGroup& group, const BlockState& block, std::uint64_t copies);

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const TargetBlocks& blocks_;
  SourceSlices& slices_;
  LaneTargets lane_targets_;
  PartialResults partials_;         ///< results of all slices
  bool uses_lane_targets_ = false;  ///< whether this pass runs groups in lanes only
  bool reads_last_groups_ = true;   ///< whether some task of this pass does
  bool only_lane_targets_ = false;  ///< whether all groups of this pass run so
  bool copies_last_group_ = false;  ///< whether each task copies its last group
};

}  // namespace gdr::native
