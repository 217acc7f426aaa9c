// Tasks of a pass: one block of one chip each, or a part of the data that blocks share.
#include <algorithm>

#include "emulator/engine/runners/blockwise.hpp"

namespace gdr {

GroupRange BlockwiseRunner::groups_of(const Chunk& chunk, GroupRange slice) const noexcept {
  const std::uint64_t first = std::min(slice.count, chunk.first_fill * loop().plan.groups_per_half);
  const std::uint64_t left = slice.count - first;
  const std::uint64_t most = loop().plan.groups_per_half == unlimited_groups
                                 ? left
                                 : chunk.fills * loop().plan.groups_per_half;
  return {slice.first + first, std::min(left, most)};
}

void BlockwiseRunner::work(const Chunk& chunk, const Task& task) {
  const bool product = is_matmul();
  if (product && task.runs && products_->bypasses_state(task.chip))
    return products_->gather(task.chip, task.block);
  BlockState& block = state(task.chip).blocks[task.block];
  if (chunk.first) {
    for (const TargetWrite& w : now_->writes()) {
      if (takes_part(w.chips, task.chip)) load_targets(program_, block, w.slots, w.records);
    }
  }
  if (task.runs) {
    const bool fused = runs_fused(chunk, task);
    if (chunk.first && (loop().flags & run_start) != 0 && !fused) run_section(task, Section::Start);
    run_loop(chunk, task);
    if (chunk.last && (loop().flags & run_end) != 0 && !fused) run_section(task, Section::End);
    if (product) products_->gather(task.chip, task.block);
  }
  if (batch_ && batched_[task.number].begun) return;
  read_results(chunk, task);
}

void BlockwiseRunner::read_results(const Chunk& chunk, const Task& task) {
  const BlockState& block = state(task.chip).blocks[task.block];
  if (!chunk.last) return;
  for (const ResultRead& r : now_->reads()) {
    if (r.joined || !takes_part(r.chips, task.chip)) continue;
    store_results(program_, block, r.slots, now_->pass().results + r.offset);
  }
}

/// PEs of a block up to the last one with a valid target.
std::uint32_t BlockwiseRunner::live_pes(const Task& task) const noexcept {
  const std::uint64_t elements = program_.program.elements;
  const std::uint64_t pes = geometry_.pes_per_block;
  const bool shared = loop().plan.partition == ChipPartition::SourcesOverBlocks;
  const std::uint64_t before = shared ? 0 : task.block * pes * elements;
  const std::uint64_t slots = std::max(now_->targets_of(task.chip), before) - before;
  // A block without targets runs for its other outputs.
  if (slots == 0) return 0;
  return static_cast<std::uint32_t>(std::min(pes, (slots + elements - 1) / elements));
}

void BlockwiseRunner::run_section(const Task& task, Section section) const {
  BlockState& block = state(task.chip).blocks[task.block];
  const BmHalves& halves = program_.halves;
  BlockRun run;
  run.section = section;
  run.source_base = halves.source_base[0];
  run.output_base = halves.output_base[0];
  run.collect_flags = (loop().flags & run_flags) != 0;
  run.live_pes = live_pes(task);
  executable_.run(block, run);
}

/// The loop over the j-items of a chunk, by stream or by fills.
void BlockwiseRunner::run_loop(const Chunk& chunk, const Task& task) {
  if (chunk.fills == 0) return;
  if (!accepts_streams()) return run_fills(chunk, task);
  if (!shares_sources()) return run_own_stream(chunk, task);
  if (!shared_sources_.of(task.chip).usable) return run_fills(chunk, task);
  run_stream(chunk, task);
}

bool BlockwiseRunner::accepts_streams() const noexcept {
  if (streamed_ == nullptr) return false;
  const StreamingExecutable& executable = *streamed_;
  const bool outputs =
      program_.outputs.empty() || (joins_outputs() && executable.streams_outputs());
  return executable.stream_bytes() != 0 && !program_.sources.empty() && outputs &&
         (loop().flags & run_flags) == 0;
}

/// Whether a block executes its run as a fused run: see run_groups.
bool BlockwiseRunner::runs_fused(const Chunk& chunk, const Task& task) const {
  constexpr std::uint32_t both = run_start | run_end;
  if ((loop().flags & both) != both || !chunk.first || !chunk.last || !accepts_streams())
    return false;
  const LoopPlan& plan = loop().plan;
  const GroupRange slice = plan.slice(task.block);
  if (slice.count == 0) return false;
  if (batch_) return !shares_sources() || shared_sources_.of(task.chip).usable.load();
  if (slice.count > streamed_->max_fused_groups()) return false;
  return shares_sources() ? shared_sources_.of(task.chip).usable.load()
                          : plan.fills(slice.count) <= fills_at_once;
}

/// The body over a stream; with Start and End in a fused run.
void BlockwiseRunner::run_groups(const Chunk& chunk, const Task& task, GroupRange groups,
                                 SourceStream stream) {
  BlockRun run;
  run.section = Section::Body;
  run.iterations = groups.count;
  if (joins_outputs()) {
    run.outputs = output_row(chunk, task, groups.first);
    run.output_base = program_.halves.output_base[0];
    run.output_step = program_.halves.output_step;
  }
  run.stream = stream;
  run.live_pes = live_pes(task);
  run.results_only = (loop().flags & run_results_only) != 0;
  const StreamingExecutable& executable = *streamed_;
  BlockState& block = state(task.chip).blocks[task.block];
  const bool fused = runs_fused(chunk, task);
  if (fused && batch_) {
    BatchedRun& batched = batched_[task.number];
    batched = {true, run};
    batch_->begin(task.number, block, run);
    return;
  }
  if (fused && executable.run_program(block, run)) return;
  if (fused) run_section(task, Section::Start);
  executable.run(block, run);
  if (fused) run_section(task, Section::End);
}

/// The rest of a task whose body ran with those of the others.
void BlockwiseRunner::finish_batched(const Chunk& chunk, const Task& task) {
  const BatchedRun& batched = batched_[task.number];
  if (!batched.begun) return;
  BlockState& block = state(task.chip).blocks[task.block];
  if (!batch_->end(task.number, block, batched.run)) {
    const bool fused = batched.run.iterations <= streamed_->max_fused_groups();
    if (!fused || !streamed_->run_program(block, batched.run)) {
      run_section(task, Section::Start);
      streamed_->run(block, batched.run);
      run_section(task, Section::End);
    }
  }
  read_results(chunk, task);
}

/// Executes a chunk, many fills at a time. The memory's halves are updated as after each fill.
void BlockwiseRunner::run_stream(const Chunk& chunk, const Task& task) {
  const LoopPlan& plan = loop().plan;
  const GroupRange slice = plan.slice(task.block);
  const std::uint64_t end = std::min(plan.fills(slice.count), chunk.first_fill + chunk.fills);
  // Fast numerics take a millisecond for a chunk, and the order of sums depends on the division
  // into runs. A fused run has one call only.
  const bool in_parts = program_.exact && !runs_fused(chunk, task);
  const std::uint64_t at_once = std::max<std::uint64_t>(
      1, in_parts ? groups_between_polls / plan.groups_per_half : chunk.fills);
  for (std::uint64_t f = chunk.first_fill; f < end; f += at_once) {
    if (f > chunk.first_fill) cancellation_point();
    run_fills_at_once(chunk, task, f, std::min(end, f + at_once));
  }
}

/// Fills `begin` .. `end` - 1 of a chunk.
void BlockwiseRunner::run_fills_at_once(const Chunk& chunk, const Task& task, std::uint64_t begin,
                                        std::uint64_t end) {
  const LoopPlan& plan = loop().plan;
  const BmHalves& halves = program_.halves;
  const GroupRange slice = plan.slice(task.block);
  std::vector<std::uint64_t> unused;
  GroupRange groups;
  std::uint32_t last = 0;
  for (std::uint64_t f = std::max(begin + visible_fills, end) - visible_fills; f < end; ++f) {
    groups = plan.fill(slice, f);
    const auto half = static_cast<unsigned>(f % 2);
    fill_half(chunk, task, groups, half, unused);
    last = halves.source_base[half] +
           static_cast<std::uint32_t>(groups.count - 1) * halves.source_step;
  }
  const GroupRange first = plan.fill(slice, begin);
  const GroupRange all{first.first, groups.first + groups.count - first.first};
  const std::size_t before = all.first - groups_of(chunk, slice).first;
  const EncodedSources& items = shared_sources_.of(task.chip);
  run_groups(chunk, task, all, {items.stream(*streamed_, before), last, &items.changes, before});
  store_last_outputs(chunk, task, end);
}

/// Buffer of a block's output items for the reduction.
std::uint64_t* BlockwiseRunner::output_row(const Chunk& chunk, const Task& task,
                                           std::uint64_t group) {
  const GroupRange all = groups_of(chunk, {0, loop().plan.groups});
  const std::uint64_t row = task.block * all.count + group - all.first;
  return outputs_[task.chip].data() + row * program_.halves.output_step;
}

/// Stores the output items of the last fills before `end` to the memory's halves, which they
/// bypassed.
void BlockwiseRunner::store_last_outputs(const Chunk& chunk, const Task& task, std::uint64_t end) {
  if (!joins_outputs()) return;
  const LoopPlan& plan = loop().plan;
  const BmHalves& halves = program_.halves;
  const GroupRange slice = plan.slice(task.block);
  std::uint64_t* const bm = state(task.chip).blocks[task.block].bm.data();
  for (std::uint64_t f = std::max(chunk.first_fill + visible_fills, end) - visible_fills; f < end;
       ++f) {
    const GroupRange groups = plan.fill(slice, f);
    std::copy_n(output_row(chunk, task, groups.first), groups.count * halves.output_step,
                bm + halves.output_base[f % 2]);
  }
}

/// The same for a block's own slice, some fills at a time. A slice that fits one conversion is
/// cached for later runs on the same sources.
void BlockwiseRunner::run_own_stream(const Chunk& chunk, const Task& task) {
  const LoopPlan& plan = loop().plan;
  const GroupRange slice = plan.slice(task.block);
  BlockStream& stream = block_sources_.of(task);
  const std::uint64_t end = std::min(plan.fills(slice.count), chunk.first_fill + chunk.fills);
  const std::uint64_t at_once = batch_ ? end : fills_at_once;
  for (std::uint64_t f = chunk.first_fill; f < end; f += at_once) {
    if (f > chunk.first_fill) cancellation_point();
    const std::uint64_t last = std::min(end, f + at_once) - 1;
    GroupRange groups = plan.fill(slice, f);
    const GroupRange last_groups = plan.fill(slice, last);
    groups.count = last_groups.first + last_groups.count - groups.first;
    if (!block_sources_.provide(*now_, task, groups, last)) {
      const bool without_sections = runs_fused(chunk, task);
      if (without_sections) run_section(task, Section::Start);
      run_fills({f, end - f, chunk.first, chunk.last}, task);
      if (without_sections) run_section(task, Section::End);
      return;
    }
    if (!stream.in_memory) stream.write_fills(state(task.chip).blocks[task.block].bm.data());
    stream.in_memory = !program_.puts_to_halves;
    run_groups(chunk, task, groups,
               {stream.items.stream(*streamed_, 0), stream.last_group, &stream.items.changes, 0});
    store_last_outputs(chunk, task, last + 1);
  }
}

void BlockwiseRunner::run_fills(const Chunk& chunk, const Task& task) {
  const LoopPlan& plan = loop().plan;
  const BmHalves& halves = program_.halves;
  BlockState& block = state(task.chip).blocks[task.block];
  const GroupRange slice = plan.slice(task.block);
  const std::uint64_t end = std::min(plan.fills(slice.count), chunk.first_fill + chunk.fills);
  std::vector<std::uint64_t> scratch;
  for (std::uint64_t f = chunk.first_fill; f < end; ++f) {
    if (f > chunk.first_fill) cancellation_point();
    const GroupRange groups = plan.fill(slice, f);
    const auto half = static_cast<unsigned>(f % 2);
    if (!program_.sources.empty()) fill_half(chunk, task, groups, half, scratch);
    BlockRun run;
    run.section = Section::Body;
    run.iterations = groups.count;
    run.source_base = halves.source_base[half];
    run.source_step = halves.source_step;
    run.output_base = halves.output_base[half];
    run.output_step = halves.output_step;
    run.collect_flags = (loop().flags & run_flags) != 0;
    run.live_pes = live_pes(task);
    executable_.run(block, run);
    if (!program_.outputs.empty()) keep_outputs(chunk, task, groups, half, scratch);
  }
}

void BlockwiseRunner::fill_half(const Chunk& chunk, const Task& task, GroupRange groups,
                                unsigned half, std::vector<std::uint64_t>& scratch) {
  const BmHalves& halves = program_.halves;
  std::uint64_t* const bm =
      state(task.chip).blocks[task.block].bm.data() + halves.source_base[half];
  block_sources_.overwritten(task);
  if (!shares_sources()) {
    load_sources(program_, loop().plan, memory_of(task.chip),
                 BlockSources::records_of(loop(), task.block), groups, bm, scratch);
    return;
  }
  const std::uint64_t before = groups.first - chunk.first_fill * loop().plan.groups_per_half;
  std::copy_n(shared_sources_.of(task.chip).words.data() + before * halves.source_step,
              groups.count * halves.source_step, bm);
}

/// Stores the output items of a half to memory, or to the reduction buffer if other blocks have
/// items for the same j-items.
void BlockwiseRunner::keep_outputs(const Chunk& chunk, const Task& task, GroupRange groups,
                                   unsigned half, std::vector<std::uint64_t>& scratch) {
  const BmHalves& halves = program_.halves;
  const LoopPlan& plan = loop().plan;
  const std::uint64_t* const bm =
      state(task.chip).blocks[task.block].bm.data() + halves.output_base[half];
  if (!joins_outputs()) {
    const OutputItems items{loop().output_address, groups.first * plan.group,
                            plan.items_in(groups)};
    store_outputs(program_, bm, items, memory_of(task.chip), scratch);
    return;
  }
  std::copy_n(bm, groups.count * halves.output_step, output_row(chunk, task, groups.first));
}

/// Reduces `part` of a chunk's items, of one chip to its memory, or of all chips for the host.
void BlockwiseRunner::join_chunk_outputs(const Chunk& chunk, std::size_t chip, GroupRange part) {
  const LoopPlan& plan = loop().plan;
  const Program& program = program_.program;
  const GroupRange all = groups_of(chunk, {0, plan.groups});
  const std::uint64_t items = plan.items_in(all);
  if (part.first >= items) return;  // a part of nothing but pads
  const std::uint64_t count = std::min(part.count, items - part.first);
  std::vector<std::vector<const std::uint64_t*>> chips;
  for (std::size_t c = 0; c < now_->chips(); ++c) {
    if (now_->blocks_of(c) == 0 || (!returns_outputs() && c != chip)) continue;
    auto& blocks = chips.emplace_back();
    for (std::uint64_t b = 0; b < geometry_.blocks; ++b) {
      const std::uint64_t row = b * all.count * plan.group + part.first;
      blocks.push_back(outputs_[c].data() + row * program.output_shorts);
    }
  }
  if (chips.empty()) return;
  const std::uint64_t records = output_records(program, geometry_, plan.partition);
  const std::uint64_t words = records * program_.layout.output_words;
  const std::uint64_t first = (all.first * plan.group + part.first) * words;
  if (returns_outputs())
    return join_outputs(program_, chips, records, count,
                        now_->pass().results + loop().output_offset + first);
  std::vector<std::uint64_t> joined(count * words);
  join_outputs(program_, chips, records, count, joined.data());
  memory_of(chip).store(loop().output_address + first, joined);
}

}  // namespace gdr
