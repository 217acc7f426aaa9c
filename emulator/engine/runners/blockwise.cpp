#include "emulator/engine/runners/blockwise.hpp"

#include <algorithm>

#include "emulator/engine/runners/reduction_network.hpp"
#include "emulator/engine/runners/transfers.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr {
namespace {

/// Maximum size of a chip's shared buffers in shorts (64-bit lanes), to fit the cache.
constexpr std::uint64_t chunk_shorts = std::uint64_t{1} << 18;
constexpr std::uint64_t slots_per_part = 64;

/// Estimated costs on the host, for the choice of the number of threads.
constexpr double ns_per_value = 3, ns_per_lane_clock = 0.5;

}  // namespace

BlockwiseRunner::BlockwiseRunner(const LoadedProgram& program, const Geometry& geometry,
                                 const Executable& executable, const StreamingExecutable* streamed)
    : program_(program),
      geometry_(geometry),
      streamed_(streamed),
      products_(streamed == nullptr ? nullptr : MatmulRunner::make(program, geometry_, *streamed)),
      loop_(program, geometry_, executable, streamed) {}

std::unique_ptr<PassRunner> blockwise_runner(const LoadedProgram& program, const Geometry& geometry,
                                             const Executable& executable) {
  return std::make_unique<BlockwiseRunner>(program, geometry, executable, nullptr);
}
std::unique_ptr<PassRunner> blockwise_runner(const LoadedProgram& program, const Geometry& geometry,
                                             const StreamingExecutable& executable) {
  return std::make_unique<BlockwiseRunner>(program, geometry, executable, &executable);
}

std::vector<BlockTask> BlockwiseRunner::make_tasks() const {
  std::vector<BlockTask> tasks;
  const std::uint64_t lanes = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  for (std::uint32_t c = 0; c < now_->chips(); ++c) {
    const auto touches = [&](const auto& transfer, std::uint32_t b) {
      const TargetSlots& s = transfer.slots;
      if (!takes_part(transfer.chips, c) || s.count == 0) return false;
      if (s.partition == ChipPartition::SourcesOverBlocks) return true;
      return s.first < (b + 1) * lanes && b * lanes < s.first + s.count;
    };
    for (std::uint32_t b = 0; b < geometry_.blocks; ++b) {
      const bool runs = now_->has_run() && b < now_->blocks_of(c);
      const bool reads = std::ranges::any_of(
          now_->reads(), [&](const ResultRead& r) { return !r.joined && touches(r, b); });
      const bool writes =
          std::ranges::any_of(now_->writes(), [&](const TargetWrite& w) { return touches(w, b); });
      if (runs || reads || writes) tasks.push_back({{c, b}, runs, tasks.size()});
    }
  }
  return tasks;
}

/// All fills at once, unless the buffers that blocks share would not fit the cache.
std::vector<FillChunk> BlockwiseRunner::make_chunks() {
  if (!now_->has_run()) return {FillChunk{}};
  if (is_matmul()) return {FillChunk{0, products_->fills_before(*now_), true, true}};
  const BmHalves& halves = program_.halves;
  const LoopPlan& plan = now_->run().plan;
  const std::uint64_t fills = plan.fills(plan.slice(0).count);
  const std::uint64_t outputs = loop_.outputs().are_used(*now_) ? halves.output_step : 0;
  const std::uint64_t shorts_per_group =
      (shares_sources(program_, *now_) ? halves.source_step : 0) + outputs * geometry_.blocks;
  if (shorts_per_group == 0 || fills == 0 || loop_.batch() != nullptr)
    return {FillChunk{0, fills, true, true}};
  const std::uint64_t at_once =
      std::max<std::uint64_t>(1, chunk_shorts / (shorts_per_group * halves.groups));
  std::vector<FillChunk> chunks;
  for (std::uint64_t f = 0; f < fills; f += at_once)
    chunks.push_back({f, std::min(at_once, fills - f), f == 0, f + at_once >= fills});
  return chunks;
}

double BlockwiseRunner::estimate(std::size_t tasks) const noexcept {
  const Program& p = program_.program;
  double ns = 0;
  for (const TargetWrite& w : now_->writes()) {
    ns += static_cast<double>(w.slots.count * program_.layout.target_words) * ns_per_value;
  }
  for (const ResultRead& r : now_->reads()) {
    ns += static_cast<double>(r.slots.count * program_.layout.result_words) * ns_per_value;
  }
  if (!now_->has_run()) return ns;
  const auto iterations = static_cast<double>(now_->run().plan.slice(0).count);
  const double clocks = static_cast<double>(p.clocks(Section::Start) + p.clocks(Section::End)) +
                        iterations * static_cast<double>(p.clocks(Section::Body));
  return ns + clocks * geometry_.pes_per_block * static_cast<double>(tasks) * ns_per_lane_clock;
}

void BlockwiseRunner::run(const Pass& pass) {
  now_.emplace(program_, geometry_, pass);
  if (pass.runs.empty()) return run_one(nullptr, pass.writes, pass.reads);
  for (const PassRun& run : pass.runs) {
    const bool first = &run == &pass.runs.front(), last = &run == &pass.runs.back();
    run_one(&run, first ? pass.writes : std::span<const TargetWrite>(),
            last ? pass.reads : std::span<const ResultRead>());
  }
}

void BlockwiseRunner::run_one(const PassRun* run, std::span<const TargetWrite> writes,
                              std::span<const ResultRead> reads) {
  now_->begin(run, writes, reads);
  const std::vector<BlockTask> tasks = make_tasks();
  const Stopwatch stopwatch;
  const bool may_be_batch = start_batch(tasks.size());
  const std::vector<FillChunk> chunks = make_chunks();
  std::vector<Phase> phases;
  const unsigned threads = threads_for(estimate(tasks.size()), now_->pass().threads);
  loop_.shared_sources().begin();
  const bool product = is_matmul();
  product ? products_->begin(*now_, threads) : now_->require_states();
  for (const FillChunk& chunk : chunks) add_chunk(chunk, tasks, phases);
  if (product) products_->add_phases(phases);
  for (const ResultRead& read : reads)
    if (read.joined && read.slots.count != 0) add_joined_read(read, phases);
  run_phases(phases, threads);
  if (may_be_batch)
    streamed_->record_batch(tasks.size(), now_->run().plan.slice(0).count, loop_.batch() != nullptr,
                            stopwatch.seconds());
  loop_.end_batch();
  if (product) products_->end();
  if (run == nullptr) return;
  if (!program_.outputs.empty() && (run->flags & run_return) == 0) note_outputs();
  if (!product) loop_.shared_sources().keep();
}

/// The run has written its output items to the memories of its chips.
void BlockwiseRunner::note_outputs() {
  const std::uint64_t words =
      now_->run().plan.items * program_.layout.output_words *
      output_records(program_.program, geometry_, now_->run().plan.partition);
  for (std::size_t c = 0; c < now_->chips(); ++c)
    if (takes_part(now_->run().chips, c))
      now_->memory_of(c).changed(now_->run().output_address, words);
}

void BlockwiseRunner::add_chunk(const FillChunk& chunk, const std::vector<BlockTask>& tasks,
                                std::vector<Phase>& phases) {
  const bool has_fills = now_->has_run() && chunk.fills != 0;
  const bool joins = has_fills && loop_.outputs().are_used(*now_);
  if (now_->has_run()) loop_.reserve(*now_);
  if (has_fills && shares_sources(program_, *now_)) {
    const LoopPlan& plan = now_->run().plan;
    loop_.shared_sources().prepare(*now_, chunk.groups_of(plan, {0, plan.groups}),
                                   loop_.accepts_streams(*now_), phases);
  }
  if (joins) loop_.outputs().reserve(*now_, chunk);
  phases.push_back({tasks.size(), [this, chunk, &tasks](std::size_t i) { work(chunk, tasks[i]); }});
  if (FusedBatch* const batch = loop_.batch()) {
    phases.push_back({1, [batch](std::size_t) { batch->run_bodies(); }});
    phases.push_back({tasks.size(), [this, &tasks](std::size_t i) {
                        if (!loop_.waits_for_batch(tasks[i])) return;
                        loop_.finish_batched(*now_, tasks[i]);
                        read_results(tasks[i]);
                      }});
  }
  if (joins) loop_.outputs().add_tasks(*now_, chunk, phases);
}

bool BlockwiseRunner::start_batch(std::size_t tasks) {
  loop_.end_batch();
  return now_->has_run() && !is_matmul() && loop_.start_batch(*now_, tasks);
}

/// A task of a chunk: writes to the block, the loop, reads from it.
void BlockwiseRunner::work(const FillChunk& chunk, const BlockTask& task) {
  const bool product = is_matmul();
  if (product && task.runs && products_->bypasses_state(task.chip))
    return products_->gather(task.chip, task.block);
  BlockState& block = state(task.chip).blocks[task.block];
  if (chunk.first) {
    for (const TargetWrite& w : now_->writes())
      if (takes_part(w.chips, task.chip)) load_targets(program_, block, w.slots, w.records);
  }
  if (task.runs) {
    loop_.run(*now_, chunk, task);
    if (product) products_->gather(task.chip, task.block);
  }
  if (chunk.last && !loop_.waits_for_batch(task)) read_results(task);
}

void BlockwiseRunner::read_results(const BlockTask& task) {
  const BlockState& block = state(task.chip).blocks[task.block];
  for (const ResultRead& r : now_->reads()) {
    if (r.joined || !takes_part(r.chips, task.chip)) continue;
    store_results(program_, block, r.slots, now_->pass().results + r.offset);
  }
}

void BlockwiseRunner::add_joined_read(const ResultRead& read, std::vector<Phase>& phases) {
  const std::span<const PortField> results = program_.results;
  // Threads write disjoint words: fields are separate tasks unless some share a word.
  const bool whole = program_.packs_results || read.raw;
  const std::size_t ways = whole ? 1 : results.size();
  phases.push_back(
      {ways * divide_up(read.slots.count, slots_per_part), [=, this, &read](std::size_t i) {
         std::vector<const ChipState*> chips;
         for (std::size_t c = 0; c < now_->chips(); ++c) {
           if (takes_part(read.chips, c)) chips.push_back(&state(c));
         }
         const std::uint64_t first = read.slots.first + i / ways * slots_per_part;
         const std::uint64_t last =
             std::min(first + slots_per_part, read.slots.first + read.slots.count);
         std::uint64_t* const to = now_->pass().results + read.offset;
         if (read.raw) return join_raw(program_, chips, read.slots, first, last, to);
         const auto fields = whole ? results : results.subspan(i % ways, 1);
         join_results(program_, chips, read.slots, fields, first, last, to);
       }});
}

}  // namespace gdr
