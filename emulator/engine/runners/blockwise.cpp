#include "emulator/engine/runners/blockwise.hpp"

#include <algorithm>

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
      executable_(executable),
      streamed_(streamed),
      products_(streamed == nullptr ? nullptr : MatmulRunner::make(program, geometry_, *streamed)),
      shared_sources_(program, streamed),
      block_sources_(program, streamed) {}

std::unique_ptr<PassRunner> blockwise_runner(const LoadedProgram& program, const Geometry& geometry,
                                             const Executable& executable) {
  return std::make_unique<BlockwiseRunner>(program, geometry, executable, nullptr);
}
std::unique_ptr<PassRunner> blockwise_runner(const LoadedProgram& program, const Geometry& geometry,
                                             const StreamingExecutable& executable) {
  return std::make_unique<BlockwiseRunner>(program, geometry, executable, &executable);
}

void BlockwiseRunner::invalidate_chips() noexcept { block_sources_.overwritten(); }

bool BlockwiseRunner::shares_sources() const noexcept {
  return loop().plan.slices == 1 && loop().plan.parts == 1 && !program_.sources.empty();
}
bool BlockwiseRunner::joins_outputs() const noexcept {
  return loop().plan.partition != ChipPartition::SourcesOverBlocks && !program_.outputs.empty();
}

std::vector<BlockwiseRunner::Task> BlockwiseRunner::make_tasks() const {
  std::vector<Task> tasks;
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

std::vector<BlockwiseRunner::Chunk> BlockwiseRunner::make_chunks() const {
  if (!now_->has_run()) return {Chunk{}};
  const BmHalves& halves = program_.halves;
  if (is_matmul()) return {Chunk{0, products_->fills_before(*now_), true, true}};
  const std::uint64_t fills = loop().plan.fills(loop().plan.slice(0).count);
  const std::uint64_t shorts_per_group =
      (shares_sources() ? halves.source_step : 0) +
      (joins_outputs() ? std::uint64_t{halves.output_step} * geometry_.blocks : 0);
  if (shorts_per_group == 0 || fills == 0) return {Chunk{0, fills, true, true}};
  if (batch_) return {Chunk{0, fills, true, true}};
  const std::uint64_t most =
      std::max<std::uint64_t>(1, chunk_shorts / (shorts_per_group * halves.groups));
  std::vector<Chunk> passes;
  for (std::uint64_t f = 0; f < fills; f += most) {
    passes.push_back({f, std::min(most, fills - f), f == 0, f + most >= fills});
  }
  return passes;
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
  const auto iterations = static_cast<double>(loop().plan.slice(0).count);
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
  const std::vector<Task> tasks = make_tasks();
  const Stopwatch stopwatch;
  const bool may_be_batch = start_batch(tasks.size());
  const std::vector<Chunk> chunks = make_chunks();
  std::vector<Phase> phases;
  const unsigned threads = threads_for(estimate(tasks.size()), now_->pass().threads);
  shared_sources_.begin();
  const bool product = is_matmul();
  product ? products_->begin(*now_, threads) : now_->require_states();
  for (const Chunk& chunk : chunks) add_chunk(chunk, tasks, phases);
  if (product) products_->add_phases(phases);
  for (const ResultRead& read : reads)
    if (read.joined && read.slots.count != 0) add_joined_read(read, phases);
  run_phases(phases, threads);
  if (may_be_batch)
    streamed_->record_batch(tasks.size(), loop().plan.slice(0).count, batch_ != nullptr,
                            stopwatch.seconds());
  batch_.reset();
  if (product) products_->end();
  if (run == nullptr) return;
  if (!program_.outputs.empty() && (run->flags & run_return) == 0) note_outputs();
  if (!product) shared_sources_.keep();
}

/// The run has written its output items to the memories of its chips.
void BlockwiseRunner::note_outputs() {
  const std::uint64_t words = loop().plan.items * program_.layout.output_words *
                              output_records(program_.program, geometry_, loop().plan.partition);
  for (std::size_t c = 0; c < now_->chips(); ++c)
    if (takes_part(loop().chips, c)) memory_of(c).changed(loop().output_address, words);
}

void BlockwiseRunner::add_chunk(const Chunk& chunk, const std::vector<Task>& tasks,
                                std::vector<Phase>& phases) {
  const std::size_t chips = now_->chips();
  if (now_->has_run() && accepts_streams() && !shares_sources())
    block_sources_.reserve(chips, geometry_.blocks);
  if (now_->has_run() && chunk.fills != 0 && shares_sources())
    shared_sources_.prepare(*now_, groups_of(chunk, {0, loop().plan.groups}), accepts_streams(),
                            phases);
  const bool joins = now_->has_run() && chunk.fills != 0 && joins_outputs();
  const GroupRange groups = joins ? groups_of(chunk, {0, loop().plan.groups}) : GroupRange{};
  const std::uint64_t items = groups.count * (now_->has_run() ? loop().plan.group : 1);
  if (joins) {
    outputs_.resize(chips);
    for (auto& buffer : outputs_) {
      buffer.resize(std::max<std::size_t>(
          buffer.size(), items * program_.program.output_shorts * geometry_.blocks));
    }
  }
  phases.push_back({tasks.size(), [this, chunk, &tasks](std::size_t i) { work(chunk, tasks[i]); }});
  if (batch_) {
    phases.push_back({1, [this](std::size_t) { batch_->run_bodies(); }});
    phases.push_back(
        {tasks.size(), [this, chunk, &tasks](std::size_t i) { finish_batched(chunk, tasks[i]); }});
  }
  if (joins) {
    const std::uint64_t size = returns_outputs() ? items_returned : items_per_task;
    const std::uint64_t n = divide_up(items, size), ways = returns_outputs() ? 1 : chips;
    phases.push_back({ways * n, [this, chunk, n, size](std::size_t i) {
                        join_chunk_outputs(chunk, i / n, {i % n * size, size});
                      }});
  }
}

/// Fused runs of the run's blocks together, if the engine has a device for them. False if the run
/// does not allow it.
bool BlockwiseRunner::start_batch(std::size_t tasks) {
  batch_.reset();
  constexpr std::uint32_t whole = run_start | run_end | run_results_only;
  if (!now_->has_run() || (loop().flags & whole) != whole || is_matmul() || !accepts_streams() ||
      !program_.outputs.empty() || tasks == 0)
    return false;
  batch_ = streamed_->start_batch(tasks, loop().plan.slice(0).count);
  batched_.assign(tasks, {});
  return true;
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
