#include "emulator/engine/matmul/slab_plan.hpp"

#include <algorithm>
#include <atomic>

namespace gdr {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> numbers = 0;
  return ++numbers;
}

}  // namespace

/// Determines the factors of a slab up to the last one that is not +0 in every item.
void SlabPlan::measure_items(const ProductPass& pass, const FastSlab& slab) {
  const bool shorts = pass.pattern.width == Width::Short;
  const std::uint64_t in_word = shorts ? 2 : 1, words = pass.record_words();
  ItemDepth& depth = item_depths_[slab.chip][slab.first / fast_kc];
  const PassRun& run = pass.state.run();
  const SourceKey now =
      key_of({&pass.state.memory_of(slab.chip), run.address, run.plan.items}, words);
  if (depth.key == now) return;
  depth = {now, 0};
  std::vector<std::uint64_t> copy;  // where memory is in pieces
  const BoardMemory& memory = pass.state.memory_of(slab.chip);
  const std::uint64_t all = (slab.depth + in_word - 1) / in_word;
  std::uint64_t used = 0;
  for (std::uint64_t i = 0; i < pass.end() && used < all; ++i) {
    const std::uint64_t at = pass.state.run().address + i * words + slab.first / in_word;
    const std::uint64_t* const behind = memory.view(at + used, all - used, copy);
    std::uint64_t more = all - used;
    while (more > 0 && behind[more - 1] == 0) --more;
    used += more;
  }
  depth.used = std::min<std::size_t>(used * in_word, slab.depth);
}

void SlabPlan::make(const ProductPass& pass) {
  slabs_.clear();
  number_ = next_number();
  panels_used_ = 0;
  for (const std::uint32_t chip : pass.chips) {
    panels_used_ = std::max(panels_used_, packed_.panels_used(chip));
    for (std::size_t n = 0; n < packed_.slabs_of_chip(); ++n) {
      const FastSlab slab = packed_.slab(chip, n);
      const std::size_t used = packed_.depth_used(slab);
      const std::size_t depth =
          used < slab.depth ? std::max(used, item_depths_[chip][n].used) : slab.depth;
      if (depth != 0) slabs_.push_back({slab, depth});
    }
  }
  if (slabs_.empty()) slabs_.push_back({packed_.slab(pass.chips[0], 0), 1});
}

void SlabPlan::add_phases(const ProductPass& pass, std::vector<Phase>& phases) {
  const std::size_t of_chip = packed_.slabs_of_chip();
  item_depths_.resize(pass.state.chips());
  for (auto& chip : item_depths_) chip.resize(of_chip);
  phases.push_back({pass.chips.size() * of_chip, [this, &pass, of_chip](std::size_t i) {
                      const FastSlab slab = packed_.slab(pass.chips[i / of_chip], i % of_chip);
                      if (packed_.depth_used(slab) < slab.depth) measure_items(pass, slab);
                    }});
  phases.push_back({1, [this, &pass](std::size_t) { make(pass); }});
}

std::size_t SlabPlan::panels() const noexcept {
  return std::min(panels_used_ + 1, packed_.panels());
}

}  // namespace gdr
