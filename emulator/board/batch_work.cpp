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
  StagedItems& staged = board_.staged[chip];
  const LoopPlan& plan = run_->plan;
  const GroupRange all = groups_of(pass, {0, plan.groups});
  const std::uint64_t size = (items_a_part + plan.group - 1) / plan.group;
  const GroupRange groups{all.first + part * size, std::min(size, all.count - part * size)};
  std::vector<std::uint64_t> scratch;
  const std::uint32_t step = board_.loaded->halves.source_step;
  std::uint64_t* const shorts = staged.shorts.data() + part * size * step;
  load_sources(*board_.loaded, plan, board_.chips[chip].memory, {run_->command.address, 0}, groups,
               shorts, scratch);
  if (!takes_streams()) return;
  const Executable& executable = *board_.loaded->executable;
  std::byte* const to = staged.groups.data() + part * size * executable.stream_bytes();
  if (!executable.convert_sources(shorts, groups.count, step, to)) staged.usable = false;
}

void Batch::work(const Pass& pass, const Task& task) {
  BlockState& block = board_.chips[task.chip].state.blocks[task.block];
  if (pass.first) {
    for (const Write& w : writes_) {
      if (takes_part(w.chips, task.chip)) load_targets(*board_.loaded, block, w.slots, w.records);
    }
  }
  if (task.runs) {
    const bool whole = runs_whole(pass, task);
    if (pass.first && (run_->command.flags & run_start) != 0 && !whole)
      run_section(task, Section::Start);
    run_loop(pass, task);
    if (pass.last && (run_->command.flags & run_end) != 0 && !whole)
      run_section(task, Section::End);
    if (sums_products()) take_factors(task);
  }
  if (!pass.last) return;
  for (const Read& r : reads_) {
    if (r.joined || !takes_part(r.chips, task.chip)) continue;
    store_results(*board_.loaded, block, r.slots, results_.data() + r.offset);
  }
}

/// PEs of a block up to the last one with a target that counts.
std::uint32_t Batch::live_pes(const Task& task) const noexcept {
  const std::uint64_t elements = board_.loaded->program.elements;
  const std::uint64_t pes = board_.geometry.pes_per_block;
  const bool shared = run_->plan.share == Share::SourcesOverBlocks;
  const std::uint64_t before = shared ? 0 : task.block * pes * elements;
  const std::uint64_t slots = std::max(run_->targets[task.chip], before) - before;
  // A block that runs without a target does so for what it leaves elsewhere.
  if (slots == 0) return 0;
  return static_cast<std::uint32_t>(std::min(pes, (slots + elements - 1) / elements));
}

void Batch::run_section(const Task& task, Section section) const {
  BlockState& block = board_.chips[task.chip].state.blocks[task.block];
  const BmHalves& halves = board_.loaded->halves;
  BlockRun run;
  run.section = section;
  run.source_base = halves.source_base[0];
  run.output_base = halves.output_base[0];
  run.collect_flags = (run_->command.flags & run_flags) != 0;
  run.live_pes = live_pes(task);
  board_.loaded->executable->run(block, run);
}

/// The loop over the j-items of a pass: as the engine takes them.
void Batch::run_loop(const Pass& pass, const Task& task) {
  if (pass.fills == 0) return;
  if (!takes_streams()) return run_fills(pass, task);
  if (!shares_sources()) return run_own_stream(pass, task);
  if (!staged_of_[task.chip]->usable) return run_fills(pass, task);
  run_stream(pass, task);
}

bool Batch::takes_streams() const noexcept {
  const Executable& executable = *board_.loaded->executable;
  const bool outputs =
      board_.loaded->outputs.empty() || (joins_outputs() && executable.streams_outputs());
  return executable.stream_bytes() != 0 && !board_.loaded->sources.empty() && outputs &&
         (run_->command.flags & run_flags) == 0;
}

/// Whether a block does all sections of its run in one call of the engine: see run_groups.
bool Batch::runs_whole(const Pass& pass, const Task& task) const {
  constexpr std::uint32_t both = run_start | run_end;
  if ((run_->command.flags & both) != both || !pass.first || !pass.last || !takes_streams())
    return false;
  const LoopPlan& plan = run_->plan;
  const GroupRange slice = plan.slice(task.block);
  if (slice.count == 0 || slice.count > board_.loaded->executable->most_whole_groups())
    return false;
  return shares_sources() ? staged_of_[task.chip]->usable.load()
                          : plan.fills(slice.count) <= fills_at_once;
}

/// The body over a stream; with Start and End, where the engine is to do the whole run.
void Batch::run_groups(const Pass& pass, const Task& task, GroupRange groups, SourceStream stream) {
  BlockRun run;
  run.section = Section::Body;
  run.iterations = groups.count;
  if (joins_outputs()) {
    run.outputs = output_row(pass, task, groups.first);
    run.output_base = board_.loaded->halves.output_base[0];
    run.output_step = board_.loaded->halves.output_step;
  }
  run.stream = stream;
  run.live_pes = live_pes(task);
  run.results_only = (run_->command.flags & run_results_only) != 0;
  const Executable& executable = *board_.loaded->executable;
  BlockState& block = board_.chips[task.chip].state.blocks[task.block];
  const bool whole = runs_whole(pass, task);
  if (whole && executable.run_whole(block, run)) return;
  if (whole) run_section(task, Section::Start);
  executable.run(block, run);
  if (whole) run_section(task, Section::End);
}

/// A pass, many fills at once. The memory's halves get what they would hold after each.
void Batch::run_stream(const Pass& pass, const Task& task) {
  const LoopPlan& plan = run_->plan;
  const GroupRange slice = plan.slice(task.block);
  const std::uint64_t end = std::min(plan.fills(slice.count), pass.first_fill + pass.fills);
  // Fast numerics need a millisecond for a whole pass, and add up in another order in each run. A
  // block that does Start and End in the same call has one call only.
  const bool in_parts = board_.loaded->exact && !runs_whole(pass, task);
  const std::uint64_t at_once = std::max<std::uint64_t>(
      1, in_parts ? groups_between_looks / plan.groups_per_half : pass.fills);
  for (std::uint64_t f = pass.first_fill; f < end; f += at_once) {
    if (f > pass.first_fill) look_up();
    run_fills_at_once(pass, task, f, std::min(end, f + at_once));
  }
}

/// Fills `begin` .. `end` - 1 of a pass.
void Batch::run_fills_at_once(const Pass& pass, const Task& task, std::uint64_t begin,
                              std::uint64_t end) {
  const LoopPlan& plan = run_->plan;
  const BmHalves& halves = board_.loaded->halves;
  const GroupRange slice = plan.slice(task.block);
  std::vector<std::uint64_t> unused;
  GroupRange groups;
  std::uint32_t last = 0;
  for (std::uint64_t f = std::max(begin + fills_seen, end) - fills_seen; f < end; ++f) {
    groups = plan.fill(slice, f);
    const auto half = static_cast<unsigned>(f % 2);
    fill_half(pass, task, groups, half, unused);
    last = halves.source_base[half] +
           static_cast<std::uint32_t>(groups.count - 1) * halves.source_step;
  }
  const GroupRange first = plan.fill(slice, begin);
  const GroupRange all{first.first, groups.first + groups.count - first.first};
  const std::size_t before = all.first - groups_of(pass, slice).first;
  const std::byte* const stream =
      staged_of_[task.chip]->groups.data() + before * board_.loaded->executable->stream_bytes();
  run_groups(pass, task, all, {stream, last});
  leave_outputs(pass, task, end);
}

/// Where a block's output items begin that the network joins.
std::uint64_t* Batch::output_row(const Pass& pass, const Task& task, std::uint64_t group) {
  const GroupRange all = groups_of(pass, {0, run_->plan.groups});
  const std::uint64_t row = task.block * all.count + group - all.first;
  return board_.outputs[task.chip].data() + row * board_.loaded->halves.output_step;
}

/// What the last fills before `end` would have left in the memory's halves, where output items went
/// past it.
void Batch::leave_outputs(const Pass& pass, const Task& task, std::uint64_t end) {
  if (!joins_outputs()) return;
  const LoopPlan& plan = run_->plan;
  const BmHalves& halves = board_.loaded->halves;
  const GroupRange slice = plan.slice(task.block);
  std::uint64_t* const bm = board_.chips[task.chip].state.blocks[task.block].bm.data();
  for (std::uint64_t f = std::max(pass.first_fill + fills_seen, end) - fills_seen; f < end; ++f) {
    const GroupRange groups = plan.fill(slice, f);
    std::copy_n(output_row(pass, task, groups.first), groups.count * halves.output_step,
                bm + halves.output_base[f % 2]);
  }
}

/// The same where every block has a slice of its own: some fills at a time. A slice that is done in
/// one go is kept: a force call on the same sources finds it ready.
void Batch::run_own_stream(const Pass& pass, const Task& task) {
  const LoopPlan& plan = run_->plan;
  const GroupRange slice = plan.slice(task.block);
  KeptStream& stream = board_.chips[task.chip].streams[task.block];
  const std::uint64_t end = std::min(plan.fills(slice.count), pass.first_fill + pass.fills);
  for (std::uint64_t f = pass.first_fill; f < end; f += fills_at_once) {
    if (f > pass.first_fill) look_up();
    const std::uint64_t last = std::min(end, f + fills_at_once) - 1;
    const bool whole = f == 0 && last + 1 == plan.fills(slice.count);
    GroupRange groups = plan.fill(slice, f);
    const GroupRange last_groups = plan.fill(slice, last);
    groups.count = last_groups.first + last_groups.count - groups.first;
    if (!(whole && stream.kept == items_of(task.chip)) &&
        !make_stream(task, groups, last, stream)) {
      const bool without_sections = runs_whole(pass, task);
      if (without_sections) run_section(task, Section::Start);
      run_fills({f, end - f, pass.first, pass.last}, task);
      if (without_sections) run_section(task, Section::End);
      return;
    }
    if (!whole) stream.kept = {};
    if (!stream.in_memory) {
      std::uint64_t* const bm = board_.chips[task.chip].state.blocks[task.block].bm.data();
      for (const auto& fill : stream.last_fills) std::ranges::copy(fill.shorts, bm + fill.base);
    }
    stream.in_memory = !board_.loaded->puts_to_halves;
    run_groups(pass, task, groups, {stream.groups.data(), stream.last_group});
    leave_outputs(pass, task, last + 1);
  }
}

/// The records of j-items that a block has to itself.
SourceRecords Batch::records_of(const Task& task) const noexcept {
  return {run_->command.address, run_->plan.parts > 1 ? task.block : 0};
}

/// Converts groups of a block's slice; `last` is the fill that the last of them are in. False if
/// the engine cannot take them.
bool Batch::make_stream(const Task& task, GroupRange groups, std::uint64_t last,
                        KeptStream& stream) const {
  thread_local std::vector<std::uint64_t> shorts, scratch;
  const LoopPlan& plan = run_->plan;
  const BmHalves& halves = board_.loaded->halves;
  const BoardMemory& memory = board_.chips[task.chip].memory;
  const Executable& executable = *board_.loaded->executable;
  const std::uint32_t step = halves.source_step;
  if (shorts.size() < groups.count * step) shorts.resize(groups.count * step);
  stream.groups.resize(groups.count * executable.stream_bytes());
  load_sources(*board_.loaded, plan, memory, records_of(task), groups, shorts.data(), scratch);
  stream.kept = {};
  stream.in_memory = false;
  if (!executable.convert_sources(shorts.data(), groups.count, step, stream.groups.data())) {
    return false;
  }
  const GroupRange slice = plan.slice(task.block);
  for (std::uint64_t k = 0; k < fills_seen; ++k) {
    auto& kept = stream.last_fills[k];
    kept.shorts.clear();
    if (last + k + 1 < fills_seen) continue;  // there was no fill before the first
    const std::uint64_t f = last + k + 1 - fills_seen;
    const GroupRange fill = plan.fill(slice, f);
    if (fill.first < groups.first) continue;  // what was done before left it there
    const std::uint64_t* const from = shorts.data() + (fill.first - groups.first) * step;
    kept.shorts.assign(from, from + fill.count * step);
    kept.base = halves.source_base[f % 2];
    stream.last_group = kept.base + static_cast<std::uint32_t>(fill.count - 1) * step;
  }
  stream.kept = items_of(task.chip);
  return true;
}

void Batch::run_fills(const Pass& pass, const Task& task) {
  const LoopPlan& plan = run_->plan;
  const BmHalves& halves = board_.loaded->halves;
  BlockState& block = board_.chips[task.chip].state.blocks[task.block];
  const GroupRange slice = plan.slice(task.block);
  const std::uint64_t end = std::min(plan.fills(slice.count), pass.first_fill + pass.fills);
  std::vector<std::uint64_t> scratch;
  for (std::uint64_t f = pass.first_fill; f < end; ++f) {
    if (f > pass.first_fill) look_up();
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
    run.live_pes = live_pes(task);
    board_.loaded->executable->run(block, run);
    if (!board_.loaded->outputs.empty()) keep_outputs(pass, task, groups, half, scratch);
  }
}

void Batch::fill_half(const Pass& pass, const Task& task, GroupRange groups, unsigned half,
                      std::vector<std::uint64_t>& scratch) {
  const BmHalves& halves = board_.loaded->halves;
  BoardChip& chip = board_.chips[task.chip];
  std::uint64_t* const bm = chip.state.blocks[task.block].bm.data() + halves.source_base[half];
  if (!chip.streams.empty()) chip.streams[task.block].in_memory = false;
  if (!shares_sources()) {
    load_sources(*board_.loaded, run_->plan, chip.memory, records_of(task), groups, bm, scratch);
    return;
  }
  const std::uint64_t before = groups.first - pass.first_fill * run_->plan.groups_per_half;
  std::copy_n(staged_of_[task.chip]->shorts.data() + before * halves.source_step,
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
  std::copy_n(bm, groups.count * halves.output_step, output_row(pass, task, groups.first));
}

/// `part` of a pass's items, of one chip into its memory, or of all chips for the host.
void Batch::join_pass_outputs(const Pass& pass, std::size_t chip, GroupRange part) {
  const LoopPlan& plan = run_->plan;
  const Program& program = board_.loaded->program;
  const GroupRange all = groups_of(pass, {0, plan.groups});
  const std::uint64_t items = plan.items_in(all);
  if (part.first >= items) return;  // a part of nothing but pads
  const std::uint64_t count = std::min(part.count, items - part.first);
  std::vector<std::vector<const std::uint64_t*>> chips;
  for (std::size_t c = 0; c < board_.chips.size(); ++c) {
    if (run_->blocks[c] == 0 || (!returns_outputs() && c != chip)) continue;
    auto& blocks = chips.emplace_back();
    for (std::uint64_t b = 0; b < board_.geometry.blocks; ++b) {
      const std::uint64_t row = b * all.count * plan.group + part.first;
      blocks.push_back(board_.outputs[c].data() + row * program.output_shorts);
    }
  }
  if (chips.empty()) return;
  const std::uint64_t records = output_records(program, board_.geometry, plan.share);
  const std::uint64_t words = records * board_.loaded->layout.output_words;
  const std::uint64_t first = (all.first * plan.group + part.first) * words;
  if (returns_outputs())
    return join_outputs(*board_.loaded, chips, records, count,
                        results_.data() + run_->offset + first);
  std::vector<std::uint64_t> joined(count * words);
  join_outputs(*board_.loaded, chips, records, count, joined.data());
  board_.chips[chip].memory.write(run_->command.output_address + first, joined);
}

}  // namespace gdr
