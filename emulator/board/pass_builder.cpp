#include "emulator/board/pass_builder.hpp"

namespace gdr {

void PassBuilder::add_write(const Command& c, const std::uint64_t* records) {
  if (!runs_.empty() || !reads_.empty()) flush();
  writes_.push_back({c.chips, {c.partition, c.first, c.count}, records});
}

void PassBuilder::add_run(const Command& c, const LoopPlan& plan, std::size_t result_offset) {
  // Output items of one run may be what stands in memory for the next.
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
  if (writes_.empty() && reads_.empty() && runs_.empty()) return;
  Command run;
  if (!runs_.empty()) run.partition = runs_[0].plan.partition;
  std::vector<PassChip> chips;
  chips.reserve(board_.chips.size());
  for (std::size_t c = 0; c < board_.chips.size(); ++c)
    chips.push_back({board_.chips[c].chip, board_.chips[c].memory, targets_of(board_, run, c)});
  // Cleared also on exceptions: a list is never executed twice.
  struct Clear {
    PassBuilder& builder;
    ~Clear() {
      builder.writes_.clear();
      builder.reads_.clear();
      builder.runs_.clear();
    }
  } clear{*this};
  board_.loaded->runner->run({chips, writes_, runs_, reads_, results_.data(), board_.threads});
}

}  // namespace gdr
