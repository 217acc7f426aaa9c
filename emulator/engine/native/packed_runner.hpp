// The native engine's pass runner: packs targets into vectors and all sources of all chips into one
// list.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "emulator/engine/native/lane_sources.hpp"
#include "emulator/engine/native/packed_plan.hpp"
#include "emulator/engine/pass.hpp"
#include "emulator/host/thread_choice.hpp"

namespace gdr::native {

/// Runs results-only passes on packed targets (packed_plan.hpp), and all others block by block.
/// Many sources are cut into slices, whose results are reduced like those of the network; the
/// number of slices depends only on the number of sources. So results depend neither on the
/// grouping of targets nor on the number of threads.
class PackedRunner final : public PassRunner {
 public:
  PackedRunner(const CompiledProgram& compiled, const LoadedProgram& loaded,
               const Geometry& geometry, const Executable& executable,
               std::unique_ptr<PassRunner> blockwise, std::atomic<std::uint64_t>* runs);
  void run(const Pass& pass) override;
  void invalidate_chips() noexcept override { blockwise_->invalidate_chips(); }

 private:
  /// Targets of a write, the destination of their results, and their slice of the sources.
  struct Group {
    const TargetWrite* write = nullptr;
    const ResultRead* read = nullptr;
    std::uint64_t first = 0, count = 0;
    std::size_t slice = 0;
  };
  /// Groups of sources, and the last one of each of its parts (PackedSources).
  struct Slice {
    std::uint64_t first = 0, count = 0;
    std::vector<std::uint64_t> last_groups;
  };

  bool takes(const Pass& pass) const;
  bool takes_runs(const Pass& pass) const;
  bool takes_transfers(const Pass& pass) const;
  bool gather_segments(const Pass& pass);
  bool make_image(const Pass& pass);
  std::uint64_t slices_wanted(const Pass& pass) const;
  void make_slices(std::uint64_t wanted);
  void take_last_groups(Slice& slice) const;
  void take_group(std::uint64_t group, std::uint64_t* to) const;
  std::vector<Group> make_groups(const Pass& pass, unsigned threads) const;
  bool run_targets(const Pass& pass);
  void work(const Pass& pass, const Group& group);
  std::uint64_t pes_with(const Group& group, unsigned element) const noexcept;
  void load(BlockState& block, const Group& group) const;
  void store(const BlockState& block, const Group& group, std::uint64_t* results) const;
  void store_raw(const BlockState& block, const Group& group, std::uint64_t* words) const;
  void join_slices(const Pass& pass) const;
  std::size_t raw_words() const noexcept { return 2 * loaded_.results.size(); }

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const Geometry geometry_;
  const Executable& executable_;
  const std::unique_ptr<PassRunner> blockwise_;
  std::atomic<std::uint64_t>* const runs_;  ///< by section
  const PackedPlan plan_;
  std::unique_ptr<LaneSources> sources_;
  std::vector<SourceSegment> segments_;
  std::vector<Slice> slices_;
  /// Words of the network by slice and target, if there are several slices.
  std::vector<std::uint64_t> partial_results_;

  /// The initial state of a PE: one block after Init and parameters.
  ChipState image_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> image_params_;
  bool image_made_ = false, image_usable_ = false;
  std::uint64_t image_number_ = 0;  ///< counts images, of all runners
  ThreadChoice threads_;            ///< units: a target and a group of sources
};

}  // namespace gdr::native
