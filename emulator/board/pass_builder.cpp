#include "emulator/board/pass_builder.hpp"

namespace gdr {

void PassBuilder::add_write(const Command& c, const std::uint64_t* records) {
  if (run_ || !reads_.empty()) flush();
  writes_.push_back({c.chips, {c.share, c.first, c.count}, records});
}

void PassBuilder::add_run(const Command& c, const LoopPlan& plan, std::size_t result_offset) {
  if (run_ || !reads_.empty()) flush();
  const std::uint64_t slots = target_slots(board_.loaded->program, board_.geometry, c.share);
  const std::uint64_t in_block =
      slots / (c.share == Share::SourcesOverBlocks ? 1 : board_.geometry.blocks);
  const bool all = c.share == Share::SourcesOverBlocks || !board_.loaded->outputs.empty();
  blocks_.clear();
  targets_.clear();
  for (std::size_t chip = 0; chip < board_.chips.size(); ++chip) {
    const std::uint64_t targets = targets_of(board_, c, chip);
    const std::uint64_t needed = targets / in_block + (targets % in_block != 0 ? 1 : 0);
    const std::uint64_t blocks = all ? board_.geometry.blocks : needed;
    targets_.push_back(targets);
    blocks_.push_back(takes_part(c.chips, chip) ? static_cast<std::uint32_t>(blocks) : 0);
  }
  run_ = PassRun{plan, c.flags, c.address, c.output_address, result_offset};
}

void PassBuilder::add_read(const Command& c, std::size_t result_offset) {
  const bool raw = (c.flags & read_raw) != 0;
  const bool joined = raw || c.share == Share::SourcesOverBlocks || (c.flags & read_combine) != 0;
  reads_.push_back({c.chips, {c.share, c.first, c.count}, result_offset, joined, raw});
}

void PassBuilder::flush() {
  if (writes_.empty() && reads_.empty() && !run_) return;
  std::vector<PassChip> chips;
  chips.reserve(board_.chips.size());
  for (std::size_t c = 0; c < board_.chips.size(); ++c)
    chips.push_back({board_.chips[c].chip, board_.chips[c].memory, run_ ? blocks_[c] : 0,
                     run_ ? targets_[c] : 0});
  // Whatever happens, these commands are done with: a list is never executed twice.
  struct Clear {
    PassBuilder& builder;
    ~Clear() {
      builder.writes_.clear();
      builder.reads_.clear();
      builder.run_.reset();
    }
  } clear{*this};
  board_.loaded->runner->run({chips, writes_, run_, reads_, results_.data(), board_.threads});
}

}  // namespace gdr
