#include "emulator/engine/api/pass_state.hpp"

#include <algorithm>
#include <atomic>

namespace gdr {
std::uint64_t next_revision() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

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

ItemsKey PassState::items_of(std::size_t chip) const {
  return {memory_of(chip).contents(), run_->address, run_->plan.items, run_->plan.partition};
}

bool PassState::changed_groups(std::size_t chip, const std::optional<ItemsKey>& key,
                               std::vector<GroupRange>& groups) const {
  const ItemsKey now = items_of(chip);
  if (!key || !key->same_places(now)) return false;
  if (key->contents == now.contents) return true;
  std::vector<BoardMemory::Range> changes;
  if (!memory_of(chip).changes_since(key->contents, changes)) return false;
  const std::uint64_t words = run_->plan.record_words(program_) * run_->plan.group;
  const std::uint64_t end_of_items = now.address + words * run_->plan.groups;
  for (const BoardMemory::Range& change : changes) {
    const std::uint64_t begin = std::max(change.address, now.address);
    const std::uint64_t end = std::min(change.address + change.count, end_of_items);
    if (begin >= end) continue;
    const std::uint64_t first = (begin - now.address) / words;
    groups.push_back({first, divide_up(end - now.address, words) - first});
  }
  return true;
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
