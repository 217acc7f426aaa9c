#include "emulator/engine/blockwise/blockwise.hpp"

#include <algorithm>

#include "emulator/host/stopwatch.hpp"

namespace gdr {
namespace {

/// Maximum size of a chip's shared buffers in shorts (64-bit lanes), to fit the cache.
constexpr std::uint64_t chunk_shorts = std::uint64_t{1} << 18;
constexpr std::uint64_t slots_per_part = 64;

/// Estimated costs on the host, for the choice of the number of threads.
constexpr double ns_per_value = 3, ns_per_lane_clock = 0.5;

std::uint64_t parts(std::uint64_t count, std::uint64_t size) noexcept {
  return count / size + (count % size != 0 ? 1 : 0);
}

}  // namespace

BlockwiseRunner::BlockwiseRunner(const LoadedProgram& program, const Geometry& geometry,
                                 const Executable& executable, const StreamingExecutable* streamed)
    : program_(program), geometry_(geometry), executable_(executable), streamed_(streamed) {
  if (streamed_ != nullptr &&
      (streamed_->matmul_kernels() != nullptr || streamed_->fast_matmul_kernels() != nullptr))
    products_ = match_number_matmul(program);
  if (products_ && streamed_->matmul_kernels() == nullptr)
    packed_slabs_.emplace(*products_, program, geometry);
  device_user_ = dynamic_cast<const MatmulDeviceUser*>(streamed_);
  if (products_ && device_user_ != nullptr && device_user_->matmul_device() != nullptr)
    device_products_ = device_user_->matmul_device()->products();
}

std::unique_ptr<PassRunner> Executable::pass_runner(const LoadedProgram& loaded,
                                                    const Geometry& geometry) const {
  return std::make_unique<BlockwiseRunner>(loaded, geometry, *this, nullptr);
}
std::unique_ptr<PassRunner> StreamingExecutable::pass_runner(const LoadedProgram& loaded,
                                                             const Geometry& geometry) const {
  return std::make_unique<BlockwiseRunner>(loaded, geometry, *this, this);
}

std::uint64_t BlockwiseRunner::next_revision() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void BlockwiseRunner::invalidate_chips() noexcept {
  for (auto& chip : streams_)
    for (CachedStream& stream : chip) stream.in_memory = false;
}

bool BlockwiseRunner::shares_sources() const noexcept {
  return loop().plan.slices == 1 && loop().plan.parts == 1 && !program_.sources.empty();
}
bool BlockwiseRunner::joins_outputs() const noexcept {
  return loop().plan.partition != ChipPartition::SourcesOverBlocks && !program_.outputs.empty();
}

std::vector<BlockwiseRunner::Task> BlockwiseRunner::make_tasks() const {
  std::vector<Task> tasks;
  const std::uint64_t lanes = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  for (std::uint32_t c = 0; c < pass_->chips.size(); ++c) {
    const auto touches = [&](const auto& transfer, std::uint32_t b) {
      const TargetSlots& s = transfer.slots;
      if (!takes_part(transfer.chips, c) || s.count == 0) return false;
      if (s.partition == ChipPartition::SourcesOverBlocks) return true;
      return s.first < (b + 1) * lanes && b * lanes < s.first + s.count;
    };
    for (std::uint32_t b = 0; b < geometry_.blocks; ++b) {
      const bool runs = run_ != nullptr && b < blocks_of(c);
      const bool reads = std::ranges::any_of(
          reads_, [&](const ResultRead& r) { return !r.joined && touches(r, b); });
      const bool writes =
          std::ranges::any_of(writes_, [&](const TargetWrite& w) { return touches(w, b); });
      if (runs || reads || writes) tasks.push_back({c, b, runs, tasks.size()});
    }
  }
  return tasks;
}

std::vector<BlockwiseRunner::Chunk> BlockwiseRunner::make_chunks() const {
  if (run_ == nullptr) return {Chunk{}};
  const BmHalves& halves = program_.halves;
  if (is_matmul()) return {Chunk{0, fills_before_matmul(), true, true}};
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
  for (const TargetWrite& w : writes_) {
    ns += static_cast<double>(w.slots.count * program_.layout.target_words) * ns_per_value;
  }
  for (const ResultRead& r : reads_) {
    ns += static_cast<double>(r.slots.count * program_.layout.result_words) * ns_per_value;
  }
  if (run_ == nullptr) return ns;
  const auto iterations = static_cast<double>(loop().plan.slice(0).count);
  const double clocks = static_cast<double>(p.clocks(Section::Start) + p.clocks(Section::End)) +
                        iterations * static_cast<double>(p.clocks(Section::Body));
  return ns + clocks * geometry_.pes_per_block * static_cast<double>(tasks) * ns_per_lane_clock;
}

std::uint64_t BlockwiseRunner::targets_of(std::size_t chip) const noexcept {
  return run_->targets != 0 ? run_->targets : pass_->chips[chip].targets;
}

std::uint32_t BlockwiseRunner::blocks_of(std::size_t chip) const noexcept {
  if (run_ == nullptr || !takes_part(run_->chips, chip)) return 0;
  const bool shared = run_->plan.partition == ChipPartition::SourcesOverBlocks;
  if (shared || !program_.outputs.empty()) return geometry_.blocks;
  const std::uint64_t in_block = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  return static_cast<std::uint32_t>(parts(targets_of(chip), in_block));
}

void BlockwiseRunner::run(const Pass& pass) {
  pass_ = &pass;
  states_.assign(pass.chips.size(), nullptr);
  if (pass.runs.empty()) return run_one(nullptr, pass.writes, pass.reads);
  for (const PassRun& run : pass.runs) {
    const bool first = &run == &pass.runs.front(), last = &run == &pass.runs.back();
    run_one(&run, first ? pass.writes : std::span<const TargetWrite>(),
            last ? pass.reads : std::span<const ResultRead>());
  }
}

void BlockwiseRunner::require_state(std::size_t chip) {
  if (states_[chip] == nullptr) states_[chip] = &pass_->chips[chip].chip.state();
}

/// Creates the states of all chips of the run, its writes and its reads.
void BlockwiseRunner::require_states() {
  std::uint64_t chips = run_ != nullptr ? run_->chips : 0;
  for (const TargetWrite& write : writes_) chips |= write.chips;
  for (const ResultRead& read : reads_) chips |= read.chips;
  for (std::size_t c = 0; c < pass_->chips.size(); ++c)
    if (takes_part(chips, c)) require_state(c);
}

void BlockwiseRunner::run_one(const PassRun* run, std::span<const TargetWrite> writes,
                              std::span<const ResultRead> reads) {
  run_ = run;
  writes_ = writes;
  reads_ = reads;
  const std::vector<Task> tasks = make_tasks();
  const Stopwatch stopwatch;
  const bool may_be_batch = start_batch(tasks.size());
  const std::vector<Chunk> chunks = make_chunks();
  std::vector<Phase> phases;
  threads_ = threads_for(estimate(tasks.size()), pass_->threads);
  chip_items_.clear();
  is_matmul() ? begin_matmul() : require_states();
  for (const Chunk& chunk : chunks) add_chunk(chunk, tasks, phases);
  if (is_matmul()) add_matmul(phases);
  for (const ResultRead& read : reads_)
    if (read.joined && read.slots.count != 0) add_joined_read(read, phases);
  run_phases(phases, threads_);
  if (may_be_batch)
    streamed_->record_batch(tasks.size(), loop().plan.slice(0).count, batch_ != nullptr,
                            stopwatch.seconds());
  batch_.reset();
  if (is_matmul() && packed_slabs_) cache_fast_factors();
  if (run_ == nullptr) return;
  if (!program_.outputs.empty() && (run_->flags & run_return) == 0) {
    const std::uint64_t words = run_->plan.items * program_.layout.output_words *
                                output_records(program_.program, geometry_, run_->plan.partition);
    for (std::size_t c = 0; c < pass_->chips.size(); ++c)
      if (takes_part(run_->chips, c)) memory_of(c).changed(run_->output_address, words);
  }
  if (chunks.size() == 1 && !is_matmul()) set_item_keys();
}

/// Key of the run's j-items in a chip's memory.
ItemsKey BlockwiseRunner::items_of(std::uint32_t chip) const {
  return {memory_of(chip).contents(), loop().address, loop().plan.items, loop().plan.partition};
}

/// Appends the groups of the run's j-items that changed since they were converted. False if
/// unknown: then all may have changed.
bool BlockwiseRunner::changed_groups(std::uint32_t chip, const std::optional<ItemsKey>& key,
                                     std::vector<GroupRange>& groups) const {
  const ItemsKey now = items_of(chip);
  if (!key || !key->same_places(now)) return false;
  if (key->contents == now.contents) return true;
  std::vector<BoardMemory::Range> changes;
  if (!memory_of(chip).changes_since(key->contents, changes)) return false;
  const std::uint64_t words = loop().plan.record_words(program_) * loop().plan.group;
  const std::uint64_t end_of_items = now.address + words * loop().plan.groups;
  for (const BoardMemory::Range& change : changes) {
    const std::uint64_t begin = std::max(change.address, now.address);
    const std::uint64_t end = std::min(change.address + change.count, end_of_items);
    if (begin >= end) continue;
    const std::uint64_t first = (begin - now.address) / words;
    groups.push_back({first, parts(end - now.address, words) - first});
  }
  return true;
}

/// Allocates buffers for shared j-items and appends conversion tasks for missing ones. Chips with
/// equal memories share a buffer.
void BlockwiseRunner::add_conversion(const Chunk& chunk, std::vector<Phase>& phases) {
  const GroupRange groups = groups_of(chunk, {0, loop().plan.groups});
  const std::uint64_t size = groups.count * loop().plan.group * program_.program.item_shorts;
  const std::size_t bytes = accepts_streams() ? groups.count * streamed_->stream_bytes() : 0;
  struct Part {
    std::uint32_t chip;
    std::uint64_t number;
  };
  std::vector<Part> missing;
  const std::uint64_t of_part = parts(items_per_task, loop().plan.group);
  const std::uint64_t all_parts = parts(groups.count, of_part);
  while (item_cache_.size() < pass_->chips.size()) item_cache_.emplace_back();
  chip_items_.assign(pass_->chips.size(), nullptr);
  for (std::uint32_t chip = 0; chip < pass_->chips.size(); ++chip) {
    if (blocks_of(chip) == 0) continue;
    const std::uint64_t contents = memory_of(chip).contents();
    for (std::uint32_t c = 0; c < chip && chip_items_[chip] == nullptr; ++c) {
      if (memory_of(c).contents() == contents) chip_items_[chip] = chip_items_[c];
    }
    if (chip_items_[chip] != nullptr) continue;
    CachedItems& cached = item_cache_[chip];
    chip_items_[chip] = &cached;
    const bool whole = chunk.first && chunk.last;
    const bool enough = cached.converted || !accepts_streams();
    std::vector<GroupRange> changes;
    const bool known =
        whole && enough && cached.usable && changed_groups(chip, cached.key, changes);
    const auto has_changed = [&](std::uint64_t part) {
      return std::ranges::any_of(changes, [&](const GroupRange& change) {
        return change.first < (part + 1) * of_part && part * of_part < change.first + change.count;
      });
    };
    cached.key.reset();
    if (!known) {
      cached.usable = true;
      if (cached.shorts.size() < size) cached.shorts.resize(size);
      if (cached.groups.size() < bytes) cached.groups.resize(bytes);
    }
    const std::size_t before = missing.size();
    for (std::uint64_t part = 0; part < all_parts; ++part)
      if (!known || has_changed(part)) missing.push_back({chip, part});
    if (missing.size() == before) continue;
    cached.previous = known ? cached.revision : 0;
    cached.revision = next_revision();
    cached.changes.clear();
    const std::span<const std::byte> all(cached.groups.data(), bytes);
    const std::size_t part_bytes = all_parts == 1 ? bytes : bytes / groups.count * of_part;
    for (std::size_t n = before; n < missing.size(); ++n) {
      const std::size_t begin = missing[n].number * part_bytes;
      cached.changes.push_back(all.subspan(begin, std::min(part_bytes, bytes - begin)));
    }
  }
  if (missing.empty()) return;
  phases.push_back({missing.size(), [this, chunk, missing](std::size_t i) {
                      stage(chunk, missing[i].chip, missing[i].number);
                    }});
}

void BlockwiseRunner::add_chunk(const Chunk& chunk, const std::vector<Task>& tasks,
                                std::vector<Phase>& phases) {
  const std::size_t chips = pass_->chips.size();
  if (run_ != nullptr && accepts_streams() && !shares_sources()) {
    streams_.resize(chips);
    for (auto& chip : streams_) chip.resize(geometry_.blocks);
  }
  if (run_ != nullptr && chunk.fills != 0 && shares_sources()) add_conversion(chunk, phases);
  const bool joins = run_ != nullptr && chunk.fills != 0 && joins_outputs();
  const GroupRange groups = joins ? groups_of(chunk, {0, loop().plan.groups}) : GroupRange{};
  const std::uint64_t items = groups.count * (run_ != nullptr ? loop().plan.group : 1);
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
    const std::uint64_t n = parts(items, size), ways = returns_outputs() ? 1 : chips;
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
  if (run_ == nullptr || (loop().flags & whole) != whole || is_matmul() || !accepts_streams() ||
      !program_.outputs.empty() || tasks == 0)
    return false;
  batch_ = streamed_->start_batch(tasks, loop().plan.slice(0).count);
  batched_.assign(tasks, {});
  return true;
}

/// Keeps completely converted items for the next run on the same j-items.
void BlockwiseRunner::set_item_keys() {
  for (std::uint32_t chip = 0; chip < chip_items_.size(); ++chip) {
    if (chip_items_[chip] != &item_cache_[chip]) continue;
    item_cache_[chip].key = items_of(chip);
    item_cache_[chip].converted = accepts_streams();
  }
}

void BlockwiseRunner::add_joined_read(const ResultRead& read, std::vector<Phase>& phases) {
  const std::span<const PortField> results = program_.results;
  // Threads write disjoint words: fields are separate tasks unless some share a word.
  const bool whole = program_.packs_results || read.raw;
  const std::size_t ways = whole ? 1 : results.size();
  phases.push_back(
      {ways * parts(read.slots.count, slots_per_part), [=, this, &read](std::size_t i) {
         std::vector<const ChipState*> chips;
         for (std::size_t c = 0; c < pass_->chips.size(); ++c) {
           if (takes_part(read.chips, c)) chips.push_back(&state(c));
         }
         const std::uint64_t first = read.slots.first + i / ways * slots_per_part;
         const std::uint64_t last =
             std::min(first + slots_per_part, read.slots.first + read.slots.count);
         std::uint64_t* const to = pass_->results + read.offset;
         if (read.raw) return join_raw(program_, chips, read.slots, first, last, to);
         const auto fields = whole ? results : results.subspan(i % ways, 1);
         join_results(program_, chips, read.slots, fields, first, last, to);
       }});
}

}  // namespace gdr
