#include "emulator/board/batch.hpp"

#include <algorithm>

namespace gdr {
namespace {

/// Shorts (in 64-bit lanes) that a chip's shared buffers may take: they should stay in the cache.
constexpr std::uint64_t pass_shorts = std::uint64_t{1} << 18;
constexpr std::uint64_t slots_a_part = 32;

/// What things cost on the host, for the choice between one thread and many only.
constexpr double ns_a_value = 3, ns_a_lane_clock = 0.5;

std::uint64_t parts(std::uint64_t count, std::uint64_t size) noexcept {
  return count / size + (count % size != 0 ? 1 : 0);
}

}  // namespace

void Batch::add_write(const Command& c, const std::uint64_t* records) {
  if (run_ || !reads_.empty()) flush();
  writes_.push_back({c.chips, {c.share, c.first, c.count}, records});
}

void Batch::add_run(const Command& c, const LoopPlan& plan, std::size_t result_offset) {
  if (run_ || !reads_.empty()) flush();
  const std::uint64_t lanes = target_slots(board_.loaded->program, board_.geometry, c.share);
  const std::uint64_t in_block =
      lanes / (c.share == Share::SourcesOverBlocks ? 1 : board_.geometry.blocks);
  const bool all = c.share == Share::SourcesOverBlocks || !board_.loaded->outputs.empty();
  Run run{c, plan, result_offset, {}, {}};
  for (std::size_t chip = 0; chip < board_.chips.size(); ++chip) {
    const std::uint64_t targets = targets_of(board_, c, chip);
    const std::uint64_t blocks = all ? board_.geometry.blocks : parts(targets, in_block);
    run.targets.push_back(targets);
    run.blocks.push_back(takes_part(c.chips, chip) ? static_cast<std::uint32_t>(blocks) : 0);
  }
  run_ = std::move(run);
}

void Batch::add_read(const Command& c, std::size_t result_offset) {
  const bool raw = (c.flags & read_raw) != 0;
  const bool joined = raw || c.share == Share::SourcesOverBlocks || (c.flags & read_combine) != 0;
  reads_.push_back({c.chips, {c.share, c.first, c.count}, result_offset, joined, raw});
}

bool Batch::shares_sources() const noexcept {
  return run_->plan.slices == 1 && run_->plan.parts == 1 && !board_.loaded->sources.empty();
}
bool Batch::joins_outputs() const noexcept {
  return run_->plan.share != Share::SourcesOverBlocks && !board_.loaded->outputs.empty();
}

std::vector<Batch::Task> Batch::make_tasks() const {
  std::vector<Task> tasks;
  const std::uint64_t lanes =
      std::uint64_t{board_.geometry.pes_per_block} * board_.loaded->program.elements;
  for (std::uint32_t c = 0; c < board_.chips.size(); ++c) {
    const auto touches = [&](const auto& transfer, std::uint32_t b) {
      const TargetSlots& s = transfer.slots;
      if (!takes_part(transfer.chips, c) || s.count == 0) return false;
      if (s.share == Share::SourcesOverBlocks) return true;
      return s.first < (b + 1) * lanes && b * lanes < s.first + s.count;
    };
    for (std::uint32_t b = 0; b < board_.geometry.blocks; ++b) {
      const bool runs = run_ && b < run_->blocks[c];
      const bool reads =
          std::ranges::any_of(reads_, [&](const Read& r) { return !r.joined && touches(r, b); });
      const bool writes =
          std::ranges::any_of(writes_, [&](const Write& w) { return touches(w, b); });
      if (runs || reads || writes) tasks.push_back({c, b, runs});
    }
  }
  return tasks;
}

std::vector<Batch::Pass> Batch::make_passes() const {
  if (!run_) return {Pass{}};
  const BmHalves& halves = board_.loaded->halves;
  if (sums_products()) return {Pass{0, fills_before_products(), true, true}};
  const std::uint64_t fills = run_->plan.fills(run_->plan.slice(0).count);
  const std::uint64_t a_group =
      (shares_sources() ? halves.source_step : 0) +
      (joins_outputs() ? std::uint64_t{halves.output_step} * board_.geometry.blocks : 0);
  if (a_group == 0 || fills == 0) return {Pass{0, fills, true, true}};
  const std::uint64_t most = std::max<std::uint64_t>(1, pass_shorts / (a_group * halves.groups));
  std::vector<Pass> passes;
  for (std::uint64_t f = 0; f < fills; f += most) {
    passes.push_back({f, std::min(most, fills - f), f == 0, f + most >= fills});
  }
  return passes;
}

double Batch::estimate(std::size_t tasks) const noexcept {
  const Program& p = board_.loaded->program;
  double ns = 0;
  for (const Write& w : writes_) {
    ns += static_cast<double>(w.slots.count * board_.loaded->layout.target_words) * ns_a_value;
  }
  for (const Read& r : reads_) {
    ns += static_cast<double>(r.slots.count * board_.loaded->layout.result_words) * ns_a_value;
  }
  if (!run_) return ns;
  const auto iterations = static_cast<double>(run_->plan.slice(0).count);
  const double clocks = static_cast<double>(p.clocks(Section::Start) + p.clocks(Section::End)) +
                        iterations * static_cast<double>(p.clocks(Section::Body));
  return ns + clocks * board_.geometry.pes_per_block * static_cast<double>(tasks) * ns_a_lane_clock;
}

void Batch::flush() {
  if (writes_.empty() && reads_.empty() && !run_) return;
  const std::vector<Task> tasks = make_tasks();
  const std::vector<Pass> passes = make_passes();
  std::vector<Phase> phases;
  // Whatever happens, these commands are done with: a list is never executed twice.
  struct Forget {
    Batch& batch;
    ~Forget() {
      batch.writes_.clear();
      batch.reads_.clear();
      batch.run_.reset();
    }
  } forget{*this};
  staged_of_.clear();
  if (sums_products()) begin_products();
  for (const Pass& pass : passes) add_pass(pass, tasks, phases);
  if (sums_products()) add_products(phases);
  add_joined_reads(phases);
  run_phases(phases, threads_for(estimate(tasks.size()), board_.threads));
  if (passes.size() == 1 && !sums_products()) keep_staged();
}

/// What the j-items of the run are, in a chip's memory.
KeptItems Batch::items_of(std::uint32_t chip) const {
  return {board_.chips[chip].memory.contents(), run_->command.address, run_->plan.items,
          run_->plan.share, board_.loaded->executable};
}

/// Make room for the j-items that blocks share, and have those converted that are not yet. A chip
/// uses what an earlier one has, if their memories hold the same.
void Batch::add_staging(const Pass& pass, std::vector<Phase>& phases) {
  const GroupRange groups = groups_of(pass, {0, run_->plan.groups});
  const std::uint64_t size = groups.count * run_->plan.group * board_.loaded->program.item_shorts;
  const std::size_t bytes =
      takes_streams() ? groups.count * board_.loaded->executable->stream_bytes() : 0;
  std::vector<std::uint32_t> missing;
  while (board_.staged.size() < board_.chips.size()) board_.staged.emplace_back();
  staged_of_.assign(board_.chips.size(), nullptr);
  for (std::uint32_t chip = 0; chip < board_.chips.size(); ++chip) {
    if (run_->blocks[chip] == 0) continue;
    const std::uint64_t contents = board_.chips[chip].memory.contents();
    for (std::uint32_t c = 0; c < chip && staged_of_[chip] == nullptr; ++c) {
      if (board_.chips[c].memory.contents() == contents) staged_of_[chip] = staged_of_[c];
    }
    if (staged_of_[chip] != nullptr) continue;
    StagedItems& staged = board_.staged[chip];
    staged_of_[chip] = &staged;
    const bool whole = pass.first && pass.last;
    const bool enough = staged.converted || !takes_streams();
    if (whole && enough && staged.kept == items_of(chip)) continue;
    staged.kept = {};
    staged.usable = true;
    if (staged.shorts.size() < size) staged.shorts.resize(size);
    if (staged.groups.size() < bytes) staged.groups.resize(bytes);
    missing.push_back(chip);
  }
  const std::uint64_t n = parts(groups.count, parts(items_a_part, run_->plan.group));
  if (missing.empty()) return;
  phases.push_back({missing.size() * n, [this, pass, n, missing](std::size_t i) {
                      stage(pass, missing[i / n], i % n);
                    }});
}

void Batch::add_pass(const Pass& pass, const std::vector<Task>& tasks, std::vector<Phase>& phases) {
  const std::size_t chips = board_.chips.size();
  if (run_ && takes_streams() && !shares_sources()) {
    for (BoardChip& chip : board_.chips) chip.streams.resize(board_.geometry.blocks);
  }
  if (run_ && pass.fills != 0 && shares_sources()) add_staging(pass, phases);
  const bool joins = run_ && pass.fills != 0 && joins_outputs();
  const GroupRange groups = joins ? groups_of(pass, {0, run_->plan.groups}) : GroupRange{};
  const std::uint64_t items = groups.count * (run_ ? run_->plan.group : 1);
  if (joins) {
    board_.outputs.resize(chips);
    for (auto& buffer : board_.outputs) {
      buffer.resize(std::max<std::size_t>(
          buffer.size(), items * board_.loaded->program.output_shorts * board_.geometry.blocks));
    }
  }
  phases.push_back({tasks.size(), [this, pass, &tasks](std::size_t i) { work(pass, tasks[i]); }});
  if (joins) {
    const std::uint64_t size = returns_outputs() ? items_returned : items_a_part;
    const std::uint64_t n = parts(items, size), ways = returns_outputs() ? 1 : chips;
    phases.push_back({ways * n, [this, pass, n, size](std::size_t i) {
                        join_pass_outputs(pass, i / n, {i % n * size, size});
                      }});
  }
}

/// What was staged whole is good for the next run on the same j-items.
void Batch::keep_staged() {
  for (std::uint32_t chip = 0; chip < staged_of_.size(); ++chip) {
    if (staged_of_[chip] != &board_.staged[chip]) continue;
    board_.staged[chip].kept = items_of(chip);
    board_.staged[chip].converted = takes_streams();
  }
}

void Batch::add_joined_read(const Read& read, std::vector<Phase>& phases) {
  const std::span<const PortField> results = board_.loaded->results;
  // Threads share no word: fields may go different ways where none has but half of one.
  const bool whole = board_.loaded->packs_results || read.raw;
  const std::size_t ways = whole ? 1 : results.size();
  phases.push_back({ways * parts(read.slots.count, slots_a_part), [=, this, &read](std::size_t i) {
                      std::vector<const ChipState*> chips;
                      for (std::size_t c = 0; c < board_.chips.size(); ++c) {
                        if (takes_part(read.chips, c)) chips.push_back(&board_.chips[c].state);
                      }
                      const std::uint64_t first = read.slots.first + i / ways * slots_a_part;
                      const std::uint64_t last =
                          std::min(first + slots_a_part, read.slots.first + read.slots.count);
                      std::uint64_t* const to = results_.data() + read.offset;
                      if (read.raw)
                        return join_raw(*board_.loaded, chips, read.slots, first, last, to);
                      const auto fields = whole ? results : results.subspan(i % ways, 1);
                      join_results(*board_.loaded, chips, read.slots, fields, first, last, to);
                    }});
}

void Batch::add_joined_reads(std::vector<Phase>& phases) {
  for (const Read& read : reads_) {
    if (read.joined && read.slots.count != 0) add_joined_read(read, phases);
  }
}

}  // namespace gdr
