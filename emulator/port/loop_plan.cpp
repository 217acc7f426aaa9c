#include "emulator/port/loop_plan.hpp"

namespace gdr {

LoopPlan make_plan(std::uint32_t group, std::uint64_t groups_per_half, const Geometry& geometry,
                   ChipPartition partition, std::uint64_t items) noexcept {
  LoopPlan plan;
  plan.partition = partition;
  plan.items = items;
  plan.group = group;
  plan.groups = items / plan.group + (items % plan.group != 0 ? 1 : 0);
  plan.groups_per_half = groups_per_half;
  plan.slices = partition == ChipPartition::SourcesOverBlocks ? geometry.blocks : 1;
  plan.parts = partition == ChipPartition::PartsOverBlocks ? geometry.blocks : 1;
  return plan;
}

LoopPlan make_plan(const LoadedProgram& loaded, const Geometry& geometry, ChipPartition partition,
                   std::uint64_t items) noexcept {
  return make_plan(loaded.program.group, loaded.halves.groups, geometry, partition, items);
}

}  // namespace gdr
