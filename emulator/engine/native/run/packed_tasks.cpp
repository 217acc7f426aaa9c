#include "emulator/engine/native/run/packed_tasks.hpp"

#include <algorithm>

#include "emulator/host/float_mode.hpp"

namespace gdr::native {

PackedTasks::PackedTasks(const CompiledProgram& compiled, const LoadedProgram& loaded,
                         const PackedPlan& plan, const TargetBlocks& blocks, SourceSlices& slices)
    : compiled_(compiled),
      loaded_(loaded),
      blocks_(blocks),
      slices_(slices),
      lane_targets_(compiled, loaded, plan),
      partials_(loaded.results) {}

void PackedTasks::begin(std::span<const Pass> passes, std::uint64_t targets, bool lane_targets) {
  partials_.resize(slices_.partials(), targets);
  uses_lane_targets_ = lane_targets && partials_.parts() == 1 &&
                       slices_.all()[0].count <= groups_between_polls &&
                       lane_targets_.prepare(blocks_.image(), blocks_.image_number());
  only_lane_targets_ = uses_lane_targets_ && std::ranges::none_of(passes, [](const Pass& pass) {
                         return std::ranges::any_of(pass.reads, &ResultRead::raw);
                       });
  reads_last_groups_ = !only_lane_targets_ || lane_targets_.reads_last_groups();
  copies_last_group_ = false;
}

void PackedTasks::make_groups(std::span<const Pass> passes, unsigned threads,
                              std::vector<TargetGroup>& groups) const {
  groups.clear();
  const std::span<const SourceSlice> slices = slices_.all();
  const std::uint64_t parts = (threads + slices.size() - 1) / slices.size();
  for (const Pass& pass : passes)
    for (std::size_t k = 0; k < pass.writes.size(); ++k) {
      const std::uint64_t count = pass.writes[k].slots.count;
      const std::uint64_t least = (count + max_lane_targets - 1) / max_lane_targets;
      for (std::size_t slice = 0; slice < slices.size(); ++slice) {
        const bool over_lanes = slices[slice].over_lanes;
        const std::uint64_t vectors = slices_.vectors_for(count, over_lanes);
        const std::uint64_t wanted = std::max(least, std::min(parts, vectors));
        const std::uint64_t size =
            (vectors + wanted - 1) / wanted * slices_.targets_of_vector(over_lanes);
        for (std::uint64_t first = 0; first < count; first += size)
          groups.push_back({&pass.writes[k], &pass.reads[k], pass.results, first,
                            std::min(size, count - first), slice});
      }
    }
}

void PackedTasks::prepare_last_groups(std::vector<Phase>& phases) {
  if (!reads_last_groups_) return;
  if (phases.empty()) return slices_.copy_last_groups();
  // Of new sources tasks with lane targets make a copy each, for one phase less.
  copies_last_group_ = uses_lane_targets_;
  if (!only_lane_targets_)
    phases.push_back({1, [this](std::size_t) { slices_.copy_last_groups(); }});
}

void PackedTasks::run(const TargetGroup& group) {
  const MachineFloatMode mode;
  if (slices_.all()[group.slice].over_lanes && run_over_lanes(group)) return;
  PackedSources sources = slices_.of(group.slice);
  const bool in_lanes = uses_lane_targets_ && !group.read->raw;
  if (in_lanes && run_on_lanes(group, sources)) return;
  run_on_block(group, sources);
}

/// False, without results, if the group has to run on a block.
bool PackedTasks::run_on_lanes(const TargetGroup& group, PackedSources& sources) {
  const LinkLayout& layout = loaded_.layout;
  std::uint64_t* const results =
      group.results + group.read->offset + group.first * layout.result_words;
  if (loaded_.packs_results) std::fill_n(results, group.count * layout.result_words, 0);
  thread_local std::vector<std::uint64_t> last_group;
  if (copies_last_group_) {
    slices_.copy_last_group(last_group);
    sources.last_groups = last_group.data();
  }
  if (lane_targets_.run({group.write->records + group.first * layout.target_words, results,
                         static_cast<std::uint32_t>(group.count)},
                        sources))
    return true;
  slices_.copy_last_group(last_group);
  sources.last_groups = last_group.data();
  return false;
}

bool PackedTasks::run_over_lanes(const TargetGroup& group) {
  const PackedTargets targets = blocks_.load(group, slices_.vector_lanes());
  if (!run_packed(compiled_, targets, slices_.of(group.slice, true))) return false;
  store_partials(group, targets.block, slices_.vector_lanes());
  return true;
}

void PackedTasks::run_on_block(const TargetGroup& group, const PackedSources& sources) {
  const PackedTargets targets = blocks_.load(group);
  run_packed(compiled_, targets, sources);
  store_results(group, targets.block);
}

void PackedTasks::store_results(const TargetGroup& group, const BlockState& block) {
  if (partials_.parts() == 1)
    return blocks_.store(block, group, group.results + group.read->offset);
  store_partials(group, block, 1);
}

/// Partial results of a slice. A slice of several may have one, where code for vectors of sources
/// failed.
void PackedTasks::store_partials(const TargetGroup& group, const BlockState& block,
                                 std::uint64_t copies) {
  const SourceSlice& slice = slices_.all()[group.slice];
  for (std::uint64_t c = 0; c < copies; ++c)
    blocks_.store_raw(block, group,
                      partials_.words(slice.first_partial + c) + group.first * blocks_.raw_words(),
                      {c, copies});
  if (copies < slice.partials)
    partials_.fill_behind(slice.first_partial, slice.partials, group.first, group.count);
}

void PackedTasks::join(const Pass& pass) {
  if (partials_.parts() == 1) return;
  const ResultRead& read = pass.reads.front();  // sources over blocks have one
  const std::uint64_t targets = read.slots.count;
  const std::size_t words = loaded_.layout.result_words;
  std::uint64_t* const results = pass.results + read.offset;
  if (!read.raw && loaded_.packs_results) std::fill_n(results, targets * words, 0);
  const MachineFloatMode mode;
  for (std::uint64_t i = 0; i < targets; ++i)
    for (std::size_t f = 0; f < loaded_.results.size(); ++f) {
      const PortField& field = loaded_.results[f];
      const Long joined = partials_.joined(i, f);
      if (!read.raw) {
        put_host_bits(field, network_to_host(field, joined), results + i * words);
        continue;
      }
      std::uint64_t* const to = results + i * blocks_.raw_words() + 2 * f;
      to[0] = static_cast<std::uint64_t>(joined.bits);
      to[1] = static_cast<std::uint64_t>(joined.bits >> 64);
    }
}

}  // namespace gdr::native
