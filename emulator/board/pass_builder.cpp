#include "emulator/board/pass_builder.hpp"

#include <algorithm>
#include <functional>

namespace gdr {
namespace {

/// Forgets writes that a pass has completed, or that have failed.
class ClearAtEnd {
 public:
  explicit ClearAtEnd(MemoryWrites& writes) : writes_(writes) {}
  ClearAtEnd(const ClearAtEnd&) = delete;
  ClearAtEnd& operator=(const ClearAtEnd&) = delete;
  ~ClearAtEnd() { writes_.clear(); }

 private:
  MemoryWrites& writes_;
};

}  // namespace

void PassBuilder::begin(std::vector<std::uint64_t>& results, bool defers) {
  results_ = &results;
  defers_ = defers;
  params_.clear();
  writes_.clear();
  runs_.clear();
  reads_.clear();
  memory_writes_.clear();
}

void PassBuilder::add_write(const Command& c, const std::uint64_t* records) {
  if (!runs_.empty() || !reads_.empty()) end_pass();
  writes_.push_back({c.chips, {c.partition, c.first, c.count}, records});
}

void PassBuilder::add_run(const Command& c, const LoopPlan& plan, std::size_t result_offset) {
  // Output items of a run may be sources of the next one.
  if (!reads_.empty() || (!runs_.empty() && !board_.loaded->outputs.empty())) flush();
  runs_.push_back({c.chips, plan, c.flags, c.address, c.output_address, result_offset, c.targets});
}

void PassBuilder::add_read(const Command& c, std::size_t result_offset) {
  const bool raw = (c.flags & read_raw) != 0;
  const bool joined =
      raw || c.partition == ChipPartition::SourcesOverBlocks || (c.flags & read_combine) != 0;
  reads_.push_back({c.chips, {c.partition, c.first, c.count}, result_offset, joined, raw});
}

void PassBuilder::flush() {
  close();
  run_pending();
}

void PassBuilder::flush_run() {
  if (!runs_.empty())
    flush();
  else if (!pending_.empty())
    run_pending();  // targets that were written since belong to the next run
}

void PassBuilder::leave(const CommandList& list) {
  if (reads_.empty()) return flush();
  close();
  const std::uint64_t* const own = list.payload.data();
  const auto in_list = [&](const TargetWrite& write) {
    return !std::less<>()(write.records, own) &&
           std::less<>()(write.records, own + list.payload.size());
  };
  if (std::ranges::any_of(pending_, [&](const PendingPass& p) {
        return p.results == results_ && std::ranges::any_of(p.writes, in_list);
      }))
    run_pending();
}

void PassBuilder::run_pending() {
  // Taken before, because a list is never executed twice, even after an exception.
  taken_.clear();
  taken_.swap(pending_);
  taken_params_.clear();
  taken_params_.swap(params_);
  if (taken_.size() != 1 || !board_.loaded->runner->takes_pending_writes())
    memory_writes_.finish(board_.threads);
  if (!run_together(taken_)) {
    for (const PendingPass& p : taken_) {
      for (const ParamWrite& param : p.params) set(param);
      run(p);
    }
  }
  for (const ParamWrite& param : taken_params_) set(param);
  if (!taken_.empty()) spare_ = std::move(taken_.back());
}

/// With the writes to memories that are left.
void PassBuilder::run(const PendingPass& pass) {
  const ClearAtEnd clear(memory_writes_);
  board_.loaded->runner->run(
      pass.pass(board_.threads, memory_writes_.all().empty() ? nullptr : &memory_writes_));
}

void PassBuilder::end_pass() {
  if (defers_)
    close();
  else
    flush();
}

/// Ends the current pass, which waits then.
void PassBuilder::close() {
  if (writes_.empty() && reads_.empty() && runs_.empty()) return;
  const RunTargets targets(board_, 0, runs_.empty() ? ChipPartition{} : runs_[0].plan.partition);
  spare_.clear();
  PendingPass& made = pending_.emplace_back(std::move(spare_));
  for (BoardChip& chip : board_.chips)
    made.chips.push_back({chip.chip, chip.memory, targets.of(chip)});
  made.params.swap(params_);
  made.writes.swap(writes_);
  made.runs.swap(runs_);
  made.reads.swap(reads_);
  made.results = results_;
}

bool PassBuilder::run_together(std::span<const PendingPass> pending) const {
  if (pending.size() < 2) return false;
  std::vector<Pass> passes;
  for (const PendingPass& p : pending) passes.push_back(p.pass(board_.threads));
  return board_.loaded->runner->run_together(passes);
}

void PassBuilder::set(const ParamWrite& param) const {
  for (std::size_t c = 0; c < board_.chips.size(); ++c)
    if (takes_part(param.chips, c)) board_.chips[c].chip.set_param(param.variable, param.words);
}

}  // namespace gdr
