#include "emulator/engine/runners/fill_loop.hpp"

#include <algorithm>

#include "emulator/engine/runners/transfers.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {

/// PEs of a block up to the last one with a valid target.
std::uint32_t FillLoop::live_pes(const PassState& pass, const BlockTask& task) const noexcept {
  const std::uint64_t elements = program_.program.elements;
  const std::uint64_t pes = geometry_.pes_per_block;
  const bool shared = pass.run().plan.partition == ChipPartition::SourcesOverBlocks;
  const std::uint64_t before = shared ? 0 : task.block * pes * elements;
  const std::uint64_t slots = std::max(pass.targets_of(task.chip), before) - before;
  // A block without targets runs for its other outputs.
  if (slots == 0) return 0;
  return static_cast<std::uint32_t>(std::min(pes, (slots + elements - 1) / elements));
}

void FillLoop::run_section(const PassState& pass, const BlockTask& task, Section section) const {
  const BmHalves& halves = program_.halves;
  BlockRun run;
  run.section = section;
  run.source_base = halves.source_base[0];
  run.output_base = halves.output_base[0];
  run.collect_flags = pass.run_has(run_flags);
  run.live_pes = live_pes(pass, task);
  executable_.run(pass.state(task.chip).blocks[task.block], run);
}

void FillLoop::run(const BlockWork& work) {
  const LoopPlan& plan = work.plan();
  const BmHalves& halves = program_.halves;
  const GroupRange slice = work.slice();
  const std::uint64_t end = work.chunk.end_in(plan, slice);
  std::vector<std::uint64_t> scratch;
  for (std::uint64_t f = work.chunk.first_fill; f < end; ++f) {
    if (f > work.chunk.first_fill) cancellation_point();
    const GroupRange groups = plan.fill(slice, f);
    const auto half = static_cast<unsigned>(f % 2);
    if (!program_.sources.empty()) fill_half(work, groups, half, scratch);
    BlockRun run;
    run.section = Section::Body;
    run.iterations = groups.count;
    run.source_base = halves.source_base[half];
    run.source_step = halves.source_step;
    run.output_base = halves.output_base[half];
    run.output_step = halves.output_step;
    run.collect_flags = work.pass.run_has(run_flags);
    run.live_pes = live_pes(work.pass, work.task);
    executable_.run(work.block(), run);
    if (!program_.outputs.empty()) keep_outputs(work, groups, half, scratch);
  }
}

void FillLoop::fill_half(const BlockWork& work, GroupRange groups, unsigned half,
                         std::vector<std::uint64_t>& scratch) {
  const BmHalves& halves = program_.halves;
  const LoopPlan& plan = work.plan();
  std::uint64_t* const bm = work.block().bm.data() + halves.source_base[half];
  own_sources_.overwritten(work.task);
  if (!shares_sources(program_, work.pass)) {
    load_sources(program_, plan, work.pass.memory_of(work.task.chip),
                 BlockSources::records_of(work.pass.run(), work.task.block), groups, bm, scratch);
    return;
  }
  const std::uint64_t before = groups.first - work.chunk.first_fill * plan.groups_per_half;
  std::copy_n(shared_sources_.of(work.task.chip).words.data() + before * halves.source_step,
              groups.count * halves.source_step, bm);
}

/// Stores the output items of a half to memory, or to the reduction buffer if other blocks have
/// items for the same j-items.
void FillLoop::keep_outputs(const BlockWork& work, GroupRange groups, unsigned half,
                            std::vector<std::uint64_t>& scratch) {
  const BmHalves& halves = program_.halves;
  const std::uint64_t* const bm = work.block().bm.data() + halves.output_base[half];
  if (outputs_.are_used(work.pass)) {
    std::copy_n(bm, groups.count * halves.output_step,
                outputs_.row(work.pass, work.chunk, work.task, groups.first));
    return;
  }
  const LoopPlan& plan = work.plan();
  const OutputItems items{work.pass.run().output_address, groups.first * plan.group,
                          plan.items_in(groups)};
  store_outputs(program_, bm, items, work.pass.memory_of(work.task.chip), scratch);
}

}  // namespace gdr
