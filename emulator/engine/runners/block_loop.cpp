#include "emulator/engine/runners/block_loop.hpp"

#include <algorithm>

#include "emulator/host/parallel.hpp"

namespace gdr {

BlockLoop::BlockLoop(const LoadedProgram& program, const Geometry& geometry,
                     const Executable& executable, const StreamingExecutable* streamed)
    : program_(program),
      geometry_(geometry),
      streamed_(streamed),
      shared_(program, streamed),
      own_(program, streamed),
      outputs_(program, geometry),
      fills_(program, geometry, executable, shared_, own_, outputs_) {}

bool BlockLoop::accepts_streams(const PassState& pass) const noexcept {
  if (streamed_ == nullptr) return false;
  const bool outputs =
      program_.outputs.empty() || (outputs_.are_used(pass) && streamed_->streams_outputs());
  return streamed_->stream_bytes() != 0 && !program_.sources.empty() && outputs &&
         !pass.run_has(run_flags);
}

void BlockLoop::reserve(const PassState& pass) {
  if (accepts_streams(pass) && !shares_sources(program_, pass))
    own_.reserve(pass.chips(), geometry_.blocks);
}

bool BlockLoop::start_batch(const PassState& pass, std::size_t tasks) {
  batch_.reset();
  if (!pass.run_has(run_start | run_end | run_results_only) || !accepts_streams(pass) ||
      !program_.outputs.empty() || tasks == 0)
    return false;
  batch_ = streamed_->start_batch(tasks, pass.run().plan.slice(0).count);
  batched_.assign(tasks, {});
  return true;
}

void BlockLoop::run(const PassState& pass, const FillChunk& chunk, const BlockTask& task) {
  const BlockWork work{pass, chunk, task};
  const bool fused = is_fused(work);
  if (chunk.first && pass.run_has(run_start) && !fused)
    fills_.run_section(pass, task, Section::Start);
  run_body(work);
  if (chunk.last && pass.run_has(run_end) && !fused) fills_.run_section(pass, task, Section::End);
}

/// Whether a block executes all sections in one call: see run_groups.
bool BlockLoop::is_fused(const BlockWork& work) const {
  const FillChunk& chunk = work.chunk;
  if (!work.pass.run_has(run_start | run_end) || !chunk.first || !chunk.last ||
      !accepts_streams(work.pass))
    return false;
  const GroupRange slice = work.slice();
  if (slice.count == 0) return false;
  const bool shares = shares_sources(program_, work.pass);
  const auto usable = [&] { return shared_.of(work.task.chip).usable.load(); };
  if (batch_) return !shares || usable();
  if (slice.count > streamed_->max_fused_groups()) return false;
  return shares ? usable() : work.plan().fills(slice.count) <= fills_at_once;
}

/// The loop over the j-items of a chunk, by stream or by fills.
void BlockLoop::run_body(const BlockWork& work) {
  if (work.chunk.fills == 0) return;
  if (!accepts_streams(work.pass)) return fills_.run(work);
  if (!shares_sources(program_, work.pass)) return run_own_stream(work);
  if (!shared_.of(work.task.chip).usable) return fills_.run(work);
  run_stream(work);
}

/// The body over a stream; with Start and End in a fused run.
void BlockLoop::run_groups(const BlockWork& work, GroupRange groups, const SourceStream& stream) {
  BlockRun run;
  run.section = Section::Body;
  run.iterations = groups.count;
  if (outputs_.are_used(work.pass)) {
    run.outputs = outputs_.row(work.pass, work.chunk, work.task, groups.first);
    run.output_base = program_.halves.output_base[0];
    run.output_step = program_.halves.output_step;
  }
  run.stream = stream;
  run.live_pes = fills_.live_pes(work.pass, work.task);
  run.results_only = work.pass.run_has(run_results_only);
  BlockState& block = work.block();
  const bool fused = is_fused(work);
  if (fused && batch_) {
    BatchedRun& batched = batched_[work.task.number];
    batched = {true, run};
    batch_->begin(work.task.number, block, run);
    return;
  }
  if (fused && streamed_->run_program(block, run)) return;
  if (fused) fills_.run_section(work.pass, work.task, Section::Start);
  streamed_->run(block, run);
  if (fused) fills_.run_section(work.pass, work.task, Section::End);
}

void BlockLoop::finish_batched(const PassState& pass, const BlockTask& task) {
  const BatchedRun& batched = batched_[task.number];
  BlockState& block = pass.state(task.chip).blocks[task.block];
  if (batch_->end(task.number, block, batched.run)) return;
  const bool fused = batched.run.iterations <= streamed_->max_fused_groups();
  if (fused && streamed_->run_program(block, batched.run)) return;
  fills_.run_section(pass, task, Section::Start);
  streamed_->run(block, batched.run);
  fills_.run_section(pass, task, Section::End);
}

/// Executes a chunk, many fills at a time. The memory's halves are updated as after each fill.
void BlockLoop::run_stream(const BlockWork& work) {
  const FillChunk& chunk = work.chunk;
  const std::uint64_t end = chunk.end_in(work.plan(), work.slice());
  // Fast numerics take a millisecond for a chunk, and the order of sums depends on the division
  // into runs. A fused run has one call only.
  const bool in_parts = program_.exact && !is_fused(work);
  const std::uint64_t at_once = std::max<std::uint64_t>(
      1, in_parts ? groups_between_polls / work.plan().groups_per_half : chunk.fills);
  for (std::uint64_t f = chunk.first_fill; f < end; f += at_once) {
    if (f > chunk.first_fill) cancellation_point();
    run_fills_at_once(work, f, std::min(end, f + at_once));
  }
}

/// Fills `begin` .. `end` - 1 of a chunk.
void BlockLoop::run_fills_at_once(const BlockWork& work, std::uint64_t begin, std::uint64_t end) {
  const LoopPlan& plan = work.plan();
  const BmHalves& halves = program_.halves;
  const GroupRange slice = work.slice();
  std::vector<std::uint64_t> unused;
  GroupRange groups;
  std::uint32_t last = 0;
  for (std::uint64_t f = std::max(begin + visible_fills, end) - visible_fills; f < end; ++f) {
    groups = plan.fill(slice, f);
    const auto half = static_cast<unsigned>(f % 2);
    fills_.fill_half(work, groups, half, unused);
    last = halves.source_base[half] +
           static_cast<std::uint32_t>(groups.count - 1) * halves.source_step;
  }
  const GroupRange first = plan.fill(slice, begin);
  const GroupRange all{first.first, groups.first + groups.count - first.first};
  const std::size_t before = all.first - work.chunk.groups_of(plan, slice).first;
  const EncodedSources& items = shared_.of(work.task.chip);
  run_groups(work, all, {items.stream(*streamed_, before), last, &items.changes, before});
  if (outputs_.are_used(work.pass)) outputs_.store_visible(work.pass, work.chunk, work.task, end);
}

/// The same for a block's own slice, some fills at a time. A slice that fits one conversion is
/// cached for later runs on the same sources.
void BlockLoop::run_own_stream(const BlockWork& work) {
  const LoopPlan& plan = work.plan();
  const FillChunk& chunk = work.chunk;
  const GroupRange slice = work.slice();
  BlockStream& stream = own_.of(work.task);
  const std::uint64_t end = chunk.end_in(plan, slice);
  const std::uint64_t at_once = batch_ ? end : fills_at_once;
  for (std::uint64_t f = chunk.first_fill; f < end; f += at_once) {
    if (f > chunk.first_fill) cancellation_point();
    const std::uint64_t last = std::min(end, f + at_once) - 1;
    GroupRange groups = plan.fill(slice, f);
    const GroupRange last_groups = plan.fill(slice, last);
    groups.count = last_groups.first + last_groups.count - groups.first;
    if (!own_.provide(work.pass, work.task, groups, last)) {
      const bool without_sections = is_fused(work);
      if (without_sections) fills_.run_section(work.pass, work.task, Section::Start);
      const FillChunk rest{f, end - f, chunk.first, chunk.last};
      fills_.run({work.pass, rest, work.task});
      if (without_sections) fills_.run_section(work.pass, work.task, Section::End);
      return;
    }
    if (!stream.in_memory) stream.write_fills(work.block().bm.data());
    stream.in_memory = !program_.puts_to_halves;
    run_groups(work, groups,
               {stream.items.stream(*streamed_, 0), stream.last_group, &stream.items.changes, 0});
    if (outputs_.are_used(work.pass)) outputs_.store_visible(work.pass, chunk, work.task, last + 1);
  }
}

}  // namespace gdr
