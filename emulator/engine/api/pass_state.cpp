#include "emulator/engine/api/pass_state.hpp"

namespace gdr {

std::uint64_t PassState::targets_of(std::size_t chip) const noexcept {
  return run_->targets != 0 ? run_->targets : pass_.chips[chip].targets;
}

std::uint32_t PassState::blocks_of(std::size_t chip) const noexcept {
  if (run_ == nullptr || !takes_part(run_->chips, chip)) return 0;
  const bool shared = run_->plan.partition == ChipPartition::SourcesOverBlocks;
  if (shared || !program_.outputs.empty()) return geometry_.blocks;
  const std::uint64_t in_block = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  return static_cast<std::uint32_t>(divide_up(targets_of(chip), in_block));
}

void PassState::require_state(std::size_t chip) {
  if (states_[chip] == nullptr) states_[chip] = &pass_.chips[chip].chip.state();
}

void PassState::require_states() {
  std::uint64_t chips = run_ != nullptr ? run_->chips : 0;
  for (const TargetWrite& write : writes_) chips |= write.chips;
  for (const ResultRead& read : reads_) chips |= read.chips;
  for (std::size_t c = 0; c < states_.size(); ++c)
    if (takes_part(chips, c)) require_state(c);
}

}  // namespace gdr
