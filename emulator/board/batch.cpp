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

void Batch::add_run(const Command& c, const LoopPlan& plan) {
  if (run_ || !reads_.empty()) flush();
  const std::uint64_t lanes = target_slots(board_.loaded->program, board_.geometry, c.share);
  const std::uint64_t in_block =
      lanes / (c.share == Share::TargetsOverBlocks ? board_.geometry.blocks : 1);
  const bool all = c.share == Share::SourcesOverBlocks || !board_.loaded->outputs.empty();
  Run run{c, plan, {}, {}};
  for (std::size_t chip = 0; chip < board_.chips.size(); ++chip) {
    const std::uint64_t targets = targets_of(board_, c, chip);
    const std::uint64_t blocks = all ? board_.geometry.blocks : parts(targets, in_block);
    run.targets.push_back(targets);
    run.blocks.push_back(takes_part(c.chips, chip) ? static_cast<std::uint32_t>(blocks) : 0);
  }
  run_ = std::move(run);
}

void Batch::add_read(const Command& c, std::size_t result_offset) {
  const bool joined = c.share == Share::SourcesOverBlocks || (c.flags & read_combine) != 0;
  reads_.push_back({c.chips, {c.share, c.first, c.count}, result_offset, joined});
}

bool Batch::shares_sources() const noexcept {
  return run_->plan.slices == 1 && !board_.loaded->sources.empty();
}
bool Batch::joins_outputs() const noexcept {
  return run_->plan.share == Share::TargetsOverBlocks && !board_.loaded->outputs.empty();
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
  for (const Pass& pass : passes) add_pass(pass, tasks, phases);
  add_joined_reads(phases);
  // Whatever happens, these commands are done with: a list is never executed twice.
  struct Forget {
    Batch& batch;
    ~Forget() {
      batch.writes_.clear();
      batch.reads_.clear();
      batch.run_.reset();
    }
  } forget{*this};
  run_phases(phases, threads_for(estimate(tasks.size()), board_.threads));
}

void Batch::add_pass(const Pass& pass, const std::vector<Task>& tasks, std::vector<Phase>& phases) {
  const std::size_t chips = board_.chips.size();
  if (run_ && takes_streams() && !shares_sources()) {
    for (BoardChip& chip : board_.chips) chip.streams.resize(board_.geometry.blocks);
  }
  const bool stages = run_ && pass.fills != 0 && shares_sources();
  const bool joins = run_ && pass.fills != 0 && joins_outputs();
  const GroupRange groups =
      stages || joins ? groups_of(pass, {0, run_->plan.groups}) : GroupRange{};
  const std::uint64_t items = groups.count * (run_ ? run_->plan.group : 1);
  if (stages) {
    staged_.resize(chips);
    for (auto& buffer : staged_) {
      const std::uint64_t size = items * board_.loaded->program.item_shorts;
      if (buffer.size() < size) buffer.resize(size);
    }
    if (takes_streams()) {
      if (streams_.size() < chips) streams_.resize(chips);
      for (Stream& stream : streams_) {
        stream.usable = true;
        stream.groups.resize(std::max<std::size_t>(
            stream.groups.size(), groups.count * board_.loaded->executable->stream_bytes()));
      }
    }
    const std::uint64_t n = parts(groups.count, parts(items_a_part, run_->plan.group));
    phases.push_back({chips * n, [this, pass, n](std::size_t i) {
                        stage(pass, static_cast<std::uint32_t>(i / n), i % n);
                      }});
  }
  if (joins) {
    outputs_.resize(chips);
    for (auto& buffer : outputs_) {
      buffer.resize(std::max<std::size_t>(
          buffer.size(), items * board_.loaded->program.output_shorts * board_.geometry.blocks));
    }
  }
  phases.push_back({tasks.size(), [this, pass, &tasks](std::size_t i) { work(pass, tasks[i]); }});
  if (joins) {
    const std::uint64_t n = parts(items, items_a_part);
    phases.push_back({chips * n, [this, pass, n](std::size_t i) {
                        join_pass_outputs(pass, static_cast<std::uint32_t>(i / n), i % n);
                      }});
  }
}

void Batch::add_joined_reads(std::vector<Phase>& phases) {
  for (const Read& read : reads_) {
    if (!read.joined || read.slots.count == 0) continue;
    phases.push_back({parts(read.slots.count, slots_a_part), [this, &read](std::size_t i) {
                        std::vector<const ChipState*> chips;
                        for (std::size_t c = 0; c < board_.chips.size(); ++c) {
                          if (takes_part(read.chips, c)) chips.push_back(&board_.chips[c].state);
                        }
                        const std::uint64_t first = read.slots.first + i * slots_a_part;
                        const std::uint64_t end = read.slots.first + read.slots.count;
                        join_results(*board_.loaded, chips, read.slots, first,
                                     std::min(first + slots_a_part, end),
                                     results_.data() + read.offset);
                      }});
  }
}

}  // namespace gdr
