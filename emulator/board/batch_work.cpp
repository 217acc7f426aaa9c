// What the tasks of a batch do: one block of one chip each, or a part of what blocks share.
#include <algorithm>

#include "emulator/board/batch.hpp"

namespace gdr {

GroupRange Batch::groups_of(const Pass& pass, GroupRange slice) const noexcept {
  const std::uint64_t first = std::min(slice.count, pass.first_fill * run_->plan.groups_per_half);
  const std::uint64_t left = slice.count - first;
  const std::uint64_t most = run_->plan.groups_per_half == unlimited_groups
                                 ? left
                                 : pass.fills * run_->plan.groups_per_half;
  return {slice.first + first, std::min(left, most)};
}

/// One part of the j-items that all blocks of a chip see in this pass.
void Batch::stage(const Pass& pass, std::uint32_t chip, std::uint64_t part) {
  if (run_->blocks[chip] == 0) return;
  const LoopPlan& plan = run_->plan;
  const GroupRange all = groups_of(pass, {0, plan.groups});
  const std::uint64_t size = (items_a_part + plan.group - 1) / plan.group;
  const GroupRange groups{all.first + part * size, std::min(size, all.count - part * size)};
  std::vector<std::uint64_t> scratch;
  load_sources(*board_.loaded, plan, board_.chips[chip].memory, run_->command.address, groups,
               staged_[chip].data() + part * size * board_.loaded->halves.source_step, scratch);
}

void Batch::work(const Pass& pass, const Task& task) {
  BlockState& block = board_.chips[task.chip].state.blocks[task.block];
  if (pass.first) {
    for (const Write& w : writes_) {
      if (takes_part(w.chips, task.chip)) load_targets(*board_.loaded, block, w.slots, w.records);
    }
  }
  if (task.runs) {
    if (pass.first && (run_->command.flags & run_start) != 0) run_section(block, Section::Start);
    run_fills(pass, task);
    if (pass.last && (run_->command.flags & run_end) != 0) run_section(block, Section::End);
  }
  if (!pass.last) return;
  for (const Read& r : reads_) {
    if (r.joined || !takes_part(r.chips, task.chip)) continue;
    store_results(*board_.loaded, block, r.slots, results_.data() + r.offset);
  }
}

void Batch::run_section(BlockState& block, Section section) const {
  const BmHalves& halves = board_.loaded->halves;
  BlockRun run;
  run.section = section;
  run.source_base = halves.source_base[0];
  run.output_base = halves.output_base[0];
  run.collect_flags = (run_->command.flags & run_flags) != 0;
  board_.loaded->executable->run(block, run);
}

void Batch::run_fills(const Pass& pass, const Task& task) {
  const LoopPlan& plan = run_->plan;
  const BmHalves& halves = board_.loaded->halves;
  BlockState& block = board_.chips[task.chip].state.blocks[task.block];
  const GroupRange slice = plan.slice(task.block);
  const std::uint64_t end = std::min(plan.fills(slice.count), pass.first_fill + pass.fills);
  std::vector<std::uint64_t> scratch;
  for (std::uint64_t f = pass.first_fill; f < end; ++f) {
    const GroupRange groups = plan.fill(slice, f);
    const auto half = static_cast<unsigned>(f % 2);
    if (!board_.loaded->sources.empty()) fill_half(pass, task, groups, half, scratch);
    BlockRun run;
    run.section = Section::Body;
    run.iterations = groups.count;
    run.source_base = halves.source_base[half];
    run.source_step = halves.source_step;
    run.output_base = halves.output_base[half];
    run.output_step = halves.output_step;
    run.collect_flags = (run_->command.flags & run_flags) != 0;
    board_.loaded->executable->run(block, run);
    if (!board_.loaded->outputs.empty()) keep_outputs(pass, task, groups, half, scratch);
  }
}

void Batch::fill_half(const Pass& pass, const Task& task, GroupRange groups, unsigned half,
                      std::vector<std::uint64_t>& scratch) {
  const BmHalves& halves = board_.loaded->halves;
  BoardChip& chip = board_.chips[task.chip];
  std::uint64_t* const bm = chip.state.blocks[task.block].bm.data() + halves.source_base[half];
  if (!shares_sources()) {
    load_sources(*board_.loaded, run_->plan, chip.memory, run_->command.address, groups, bm,
                 scratch);
    return;
  }
  const std::uint64_t before = groups.first - pass.first_fill * run_->plan.groups_per_half;
  std::copy_n(staged_[task.chip].data() + before * halves.source_step,
              groups.count * halves.source_step, bm);
}

/// Output items of a half that was worked on: into memory, or, where other blocks made theirs for
/// the same j-items, into the buffer from which the network joins them.
void Batch::keep_outputs(const Pass& pass, const Task& task, GroupRange groups, unsigned half,
                         std::vector<std::uint64_t>& scratch) {
  const BmHalves& halves = board_.loaded->halves;
  const LoopPlan& plan = run_->plan;
  BoardChip& chip = board_.chips[task.chip];
  const std::uint64_t* const bm =
      chip.state.blocks[task.block].bm.data() + halves.output_base[half];
  if (!joins_outputs()) {
    const OutputItems items{run_->command.output_address, groups.first * plan.group,
                            plan.items_in(groups)};
    store_outputs(*board_.loaded, bm, items, chip.memory, scratch);
    return;
  }
  const GroupRange all = groups_of(pass, {0, plan.groups});
  const std::uint64_t row = task.block * all.count + groups.first - all.first;
  std::copy_n(bm, groups.count * halves.output_step,
              outputs_[task.chip].data() + row * halves.output_step);
}

void Batch::join_pass_outputs(const Pass& pass, std::uint32_t chip, std::uint64_t part) {
  if (run_->blocks[chip] == 0) return;
  const LoopPlan& plan = run_->plan;
  const std::uint64_t step = board_.loaded->program.output_shorts;
  const GroupRange all = groups_of(pass, {0, plan.groups});
  const std::uint64_t items = plan.items_in(all);
  const std::uint64_t begin = part * items_a_part;
  if (begin >= items) return;  // a part of nothing but pads
  std::vector<const std::uint64_t*> blocks;
  for (std::uint64_t b = 0; b < board_.geometry.blocks; ++b) {
    blocks.push_back(outputs_[chip].data() + (b * all.count * plan.group + begin) * step);
  }
  const OutputItems range{run_->command.output_address, all.first * plan.group + begin,
                          std::min(items_a_part, items - begin)};
  std::vector<std::uint64_t> scratch;
  join_outputs(*board_.loaded, blocks,
               output_records(board_.loaded->program, board_.geometry, plan.share), range,
               board_.chips[chip].memory, scratch);
}

}  // namespace gdr
